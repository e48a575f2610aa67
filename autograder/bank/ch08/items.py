"""Chapter 08, anatomy of an inference server: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch08 import (
    batching,
    latency,
    repairs,
    service_questions,
    streaming,
    tensors,
    time_questions,
    times,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 8.10 comes after 8.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*time_questions.ITEMS, *service_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (
    *repairs.ITEMS,
    *times.ITEMS,
    *latency.ITEMS,
    *batching.ITEMS,
    *tensors.ITEMS,
    *streaming.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 08, anatomy of an inference server: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch08_batching,
    ch08_latency,
    ch08_repairs,
    ch08_service_questions,
    ch08_streaming,
    ch08_tensors,
    ch08_time_questions,
    ch08_times,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 8.10 comes after 8.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*ch08_time_questions.ITEMS, *ch08_service_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (
    *ch08_repairs.ITEMS,
    *ch08_times.ITEMS,
    *ch08_latency.ITEMS,
    *ch08_batching.ITEMS,
    *ch08_tensors.ITEMS,
    *ch08_streaming.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 09, the KV cache: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch09 import (
    attention,
    blocks,
    capacity,
    kv_bytes,
    quantization,
    radix,
    sharing_questions,
    size_questions,
    waste,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 9.10 comes after 9.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*size_questions.ITEMS, *sharing_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (
    *attention.ITEMS,
    *kv_bytes.ITEMS,
    *capacity.ITEMS,
    *waste.ITEMS,
    *blocks.ITEMS,
    *radix.ITEMS,
    *quantization.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

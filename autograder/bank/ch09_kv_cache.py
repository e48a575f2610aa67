"""Chapter 09, the KV cache: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch09_attention,
    ch09_blocks,
    ch09_bytes,
    ch09_capacity,
    ch09_quantization,
    ch09_radix,
    ch09_sharing_questions,
    ch09_size_questions,
    ch09_waste,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 9.10 comes after 9.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*ch09_size_questions.ITEMS, *ch09_sharing_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (
    *ch09_attention.ITEMS,
    *ch09_bytes.ITEMS,
    *ch09_capacity.ITEMS,
    *ch09_waste.ITEMS,
    *ch09_blocks.ITEMS,
    *ch09_radix.ITEMS,
    *ch09_quantization.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 14, RLHF system architecture: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch14_gate,
    ch14_memory,
    ch14_off_policy,
    ch14_placement,
    ch14_schedule,
    ch14_slots,
    ch14_system_questions,
    ch14_weight_items,
)
from autograder.items import Item

WEIGHTS: tuple[Item, ...] = ch14_weight_items.ITEMS
ASYNCHRONOUS: tuple[Item, ...] = (*ch14_slots.ITEMS, *ch14_gate.ITEMS, *ch14_off_policy.ITEMS)
SYSTEMS: tuple[Item, ...] = (
    *ch14_system_questions.ITEMS,
    *ch14_memory.ITEMS,
    *ch14_placement.ITEMS,
    *ch14_schedule.ITEMS,
)


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 14.10 comes after 14.9."""
    return tuple(int(number) for number in item.section.split("."))


ITEMS: tuple[Item, ...] = tuple(sorted((*SYSTEMS, *WEIGHTS, *ASYNCHRONOUS), key=_place))

"""Chapter 14, RLHF system architecture: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch14 import gate, memory, off_policy, placement, schedule, slots, system_questions, weight_items
from autograder.items import Item

WEIGHTS: tuple[Item, ...] = weight_items.ITEMS
ASYNCHRONOUS: tuple[Item, ...] = (*slots.ITEMS, *gate.ITEMS, *off_policy.ITEMS)
SYSTEMS: tuple[Item, ...] = (*system_questions.ITEMS, *memory.ITEMS, *placement.ITEMS, *schedule.ITEMS)


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 14.10 comes after 14.9."""
    return tuple(int(number) for number in item.section.split("."))


ITEMS: tuple[Item, ...] = tuple(sorted((*SYSTEMS, *WEIGHTS, *ASYNCHRONOUS), key=_place))

"""Chapter 02, point-to-point communication: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch02 import (
    best_chunks,
    chunks,
    costs,
    deadlock,
    relay,
    repairs,
    ring,
    split,
    stages,
    times,
    traces,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*traces.TRACES, *times.TIMES)
EXERCISES: tuple[Item, ...] = (
    *relay.ITEMS,
    *deadlock.ITEMS,
    *repairs.ITEMS,
    *ring.ITEMS,
    *costs.ITEMS,
    *best_chunks.ITEMS,
    *chunks.ITEMS,
    *stages.ITEMS,
    *split.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 02, point-to-point communication: all its items, in the order of the page and of the deeper page."""

from __future__ import annotations

from autograder.bank.ch02 import (
    best_chunks,
    chunks,
    costs,
    deadlock,
    deeper,
    overlap,
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


QUESTIONS: tuple[Item, ...] = (*traces.TRACES, *times.TIMES, *deeper.DEEPER)
EXERCISES: tuple[Item, ...] = (
    *relay.ITEMS,
    *deadlock.ITEMS,
    *repairs.ITEMS,
    *overlap.ITEMS,
    *ring.ITEMS,
    *costs.ITEMS,
    *best_chunks.ITEMS,
    *chunks.ITEMS,
    *stages.ITEMS,
    *split.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 02, point-to-point communication: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch02_best_chunks,
    ch02_chunks,
    ch02_costs,
    ch02_deadlock,
    ch02_relay,
    ch02_repairs,
    ch02_ring,
    ch02_split,
    ch02_stages,
    ch02_times,
    ch02_traces,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*ch02_traces.TRACES, *ch02_times.TIMES)
EXERCISES: tuple[Item, ...] = (
    *ch02_relay.ITEMS,
    *ch02_deadlock.ITEMS,
    *ch02_repairs.ITEMS,
    *ch02_ring.ITEMS,
    *ch02_costs.ITEMS,
    *ch02_best_chunks.ITEMS,
    *ch02_chunks.ITEMS,
    *ch02_stages.ITEMS,
    *ch02_split.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

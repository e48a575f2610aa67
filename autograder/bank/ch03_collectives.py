"""Chapter 03, collective operations: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch03_exchanges,
    ch03_repairs,
    ch03_rings,
    ch03_semantics,
    ch03_softmax,
    ch03_statistics,
    ch03_time,
    ch03_traces,
    ch03_traffic,
    ch03_volumes,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 3.10 comes after 3.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*ch03_traces.TRACES, *ch03_volumes.VOLUMES)
EXERCISES: tuple[Item, ...] = (
    *ch03_semantics.ITEMS,
    *ch03_rings.ITEMS,
    *ch03_exchanges.ITEMS,
    *ch03_traffic.ITEMS,
    *ch03_time.ITEMS,
    *ch03_statistics.ITEMS,
    *ch03_softmax.ITEMS,
    *ch03_repairs.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

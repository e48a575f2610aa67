"""Chapter 03, collective operations: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch03 import (
    designs,
    estimates,
    exchanges,
    repairs,
    rings,
    semantics,
    softmax,
    statistics,
    time,
    traces,
    traffic,
    volumes,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 3.10 comes after 3.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*traces.TRACES, *estimates.ESTIMATES, *designs.DESIGNS, *volumes.VOLUMES)
EXERCISES: tuple[Item, ...] = (
    *semantics.ITEMS,
    *rings.ITEMS,
    *exchanges.ITEMS,
    *traffic.ITEMS,
    *time.ITEMS,
    *statistics.ITEMS,
    *softmax.ITEMS,
    *repairs.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

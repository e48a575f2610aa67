"""Chapter 04, topology: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch04_algorithms,
    ch04_bandwidth,
    ch04_costs,
    ch04_fits,
    ch04_layouts,
    ch04_levels,
    ch04_machines,
    ch04_parsing,
    ch04_tree_questions,
    ch04_trees,
    ch04_worlds,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 4.10 comes after 4.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *ch04_costs.COSTS,
    *ch04_tree_questions.TREES,
    *ch04_levels.LEVELS,
    *ch04_machines.MACHINES,
)
EXERCISES: tuple[Item, ...] = (
    *ch04_algorithms.ITEMS,
    *ch04_trees.ITEMS,
    *ch04_bandwidth.ITEMS,
    *ch04_fits.ITEMS,
    *ch04_parsing.ITEMS,
    *ch04_layouts.ITEMS,
    *ch04_worlds.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 04, topology: every question and exercise, in the order of the path's page and then of the deeper one."""

from __future__ import annotations

from autograder.bank.ch04 import (
    algorithms,
    bandwidth,
    choices,
    costs,
    designs,
    estimates,
    fits,
    layouts,
    levels,
    machines,
    parsing,
    tree_questions,
    trees,
    worlds,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 4.10 comes after 4.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *estimates.ESTIMATES,
    *machines.MACHINES,
    *choices.CHOICES,
    *designs.DESIGNS,
    *tree_questions.TREES,
    *costs.COSTS,
    *levels.LEVELS,
)
EXERCISES: tuple[Item, ...] = (
    *algorithms.ITEMS,
    *trees.ITEMS,
    *bandwidth.ITEMS,
    *fits.ITEMS,
    *parsing.ITEMS,
    *layouts.ITEMS,
    *worlds.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 01, the first program: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch01 import (
    budgets,
    coordinates,
    flops,
    groups,
    launch,
    places,
    programs,
    rank_questions,
    scale_questions,
    scaling,
    scaling_questions,
    shards,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 1.10 comes after 1.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*rank_questions.QUESTIONS, *scale_questions.QUESTIONS, *scaling_questions.QUESTIONS)
EXERCISES: tuple[Item, ...] = (
    *programs.ITEMS,
    *groups.ITEMS,
    *places.ITEMS,
    *coordinates.ITEMS,
    *launch.ITEMS,
    *shards.ITEMS,
    *scaling.ITEMS,
    *flops.ITEMS,
    *budgets.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

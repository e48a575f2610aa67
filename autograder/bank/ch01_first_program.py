"""Chapter 01, the first program: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch01_budgets,
    ch01_coordinates,
    ch01_flops,
    ch01_groups,
    ch01_launch,
    ch01_places,
    ch01_programs,
    ch01_rank_questions,
    ch01_scale_questions,
    ch01_scaling,
    ch01_scaling_questions,
    ch01_shards,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 1.10 comes after 1.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *ch01_rank_questions.QUESTIONS,
    *ch01_scale_questions.QUESTIONS,
    *ch01_scaling_questions.QUESTIONS,
)
EXERCISES: tuple[Item, ...] = (
    *ch01_flops.ITEMS,
    *ch01_budgets.ITEMS,
    *ch01_programs.ITEMS,
    *ch01_launch.ITEMS,
    *ch01_places.ITEMS,
    *ch01_coordinates.ITEMS,
    *ch01_groups.ITEMS,
    *ch01_shards.ITEMS,
    *ch01_scaling.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 11, speculative and constrained decoding: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch11 import (
    budgets,
    draft_questions,
    masks,
    meaning,
    speculation_law,
    speculation_speed,
    speed_questions,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 11.10 comes after 11.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*draft_questions.ITEMS, *speed_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (*speculation_law.ITEMS, *speculation_speed.ITEMS)
CONSTRAINTS: tuple[Item, ...] = (
    *masks.MASKS,
    *budgets.BUDGETS,
    *meaning.MEANING,
    *meaning.TOGETHER,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES, *CONSTRAINTS), key=_place))

"""Chapter 11, speculative and constrained decoding: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch11_budgets,
    ch11_draft_questions,
    ch11_masks,
    ch11_meaning,
    ch11_speculation_law,
    ch11_speculation_speed,
    ch11_speed_questions,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 11.10 comes after 11.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (*ch11_draft_questions.ITEMS, *ch11_speed_questions.ITEMS)
EXERCISES: tuple[Item, ...] = (*ch11_speculation_law.ITEMS, *ch11_speculation_speed.ITEMS)
CONSTRAINTS: tuple[Item, ...] = (
    *ch11_masks.MASKS,
    *ch11_budgets.BUDGETS,
    *ch11_meaning.MEANING,
    *ch11_meaning.TOGETHER,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES, *CONSTRAINTS), key=_place))

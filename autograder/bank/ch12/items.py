"""Chapter 12, reinforcement learning: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch12 import (
    advantage_questions,
    advantages,
    gradients,
    policy,
    policy_questions,
    returns,
    training,
    value_questions,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 12.10 comes after 12.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *value_questions.ITEMS,
    *advantage_questions.ITEMS,
    *policy_questions.ITEMS,
)
EXERCISES: tuple[Item, ...] = (
    *returns.ITEMS,
    *gradients.ITEMS,
    *advantages.ITEMS,
    *policy.POLICY,
    *training.TRAINING,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

"""Chapter 12, reinforcement learning: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch12_advantage_questions,
    ch12_advantages,
    ch12_gradients,
    ch12_policy,
    ch12_policy_questions,
    ch12_returns,
    ch12_training,
    ch12_value_questions,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 12.10 comes after 12.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *ch12_value_questions.ITEMS,
    *ch12_advantage_questions.ITEMS,
    *ch12_policy_questions.ITEMS,
)
EXERCISES: tuple[Item, ...] = (
    *ch12_returns.ITEMS,
    *ch12_gradients.ITEMS,
    *ch12_advantages.ITEMS,
    *ch12_policy.POLICY,
    *ch12_training.TRAINING,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

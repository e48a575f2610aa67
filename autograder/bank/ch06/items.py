"""Chapter 6, tensor parallelism: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch06 import (
    activation_questions,
    activations,
    attention,
    context,
    decisions,
    designs,
    estimates,
    heads,
    linear,
    mlp,
    operators,
    segments,
    sequence,
    split_questions,
    traffic,
    traffic_questions,
    vocabulary,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 6.10 comes after 6.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *decisions.MATRICES,
    *decisions.HEADS,
    *decisions.MEMORY,
    *estimates.ITEMS,
    *designs.DESIGNS,
    *context.QUESTIONS,
    *split_questions.SHAPES,
    *traffic_questions.COSTS,
    *activation_questions.ACTIVATIONS,
)
EXERCISES: tuple[Item, ...] = (
    *operators.ITEMS,
    *linear.ITEMS,
    *mlp.ITEMS,
    *heads.ITEMS,
    *attention.ITEMS,
    *context.ITEMS,
    *vocabulary.ITEMS,
    *sequence.ITEMS,
    *activations.ITEMS,
    *traffic.ITEMS,
    *segments.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

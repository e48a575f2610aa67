"""Chapter 6, tensor parallelism: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch06_activation_questions,
    ch06_activations,
    ch06_attention,
    ch06_heads,
    ch06_linear,
    ch06_mlp,
    ch06_operators,
    ch06_segments,
    ch06_sequence,
    ch06_split_questions,
    ch06_traffic,
    ch06_traffic_questions,
    ch06_vocabulary,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 6.10 comes after 6.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *ch06_split_questions.SHAPES,
    *ch06_traffic_questions.COSTS,
    *ch06_activation_questions.ACTIVATIONS,
)
EXERCISES: tuple[Item, ...] = (
    *ch06_operators.ITEMS,
    *ch06_linear.ITEMS,
    *ch06_mlp.ITEMS,
    *ch06_heads.ITEMS,
    *ch06_attention.ITEMS,
    *ch06_vocabulary.ITEMS,
    *ch06_sequence.ITEMS,
    *ch06_activations.ITEMS,
    *ch06_traffic.ITEMS,
    *ch06_segments.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

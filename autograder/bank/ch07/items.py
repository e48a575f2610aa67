"""Chapter 07, pipeline and expert parallelism: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch07 import (
    boundaries,
    capacity,
    choices,
    chunk_questions,
    designs,
    estimates,
    exchanges,
    expert_questions,
    experts,
    idle,
    in_flight,
    layout_questions,
    layouts,
    one_f_one_b,
    pipeline_questions,
    repairs,
    schedules,
    times,
    worlds,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 7.10 comes after 7.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *choices.ITEMS,
    *estimates.ITEMS,
    *pipeline_questions.ITEMS,
    *chunk_questions.ITEMS,
    *expert_questions.ITEMS,
    *layout_questions.ITEMS,
    *designs.ITEMS,
)
EXERCISES: tuple[Item, ...] = (
    *idle.ITEMS,
    *times.ITEMS,
    *one_f_one_b.ITEMS,
    *schedules.ITEMS,
    *in_flight.ITEMS,
    *boundaries.ITEMS,
    *experts.ITEMS,
    *capacity.ITEMS,
    *exchanges.ITEMS,
    *layouts.ITEMS,
    *repairs.ITEMS,
    *worlds.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

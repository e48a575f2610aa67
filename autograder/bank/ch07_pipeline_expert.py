"""Chapter 07, pipeline and expert parallelism: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch07_boundaries,
    ch07_capacity,
    ch07_chunk_questions,
    ch07_exchanges,
    ch07_expert_questions,
    ch07_experts,
    ch07_idle,
    ch07_in_flight,
    ch07_layout_questions,
    ch07_layouts,
    ch07_pipeline_questions,
    ch07_repairs,
    ch07_schedules,
    ch07_times,
    ch07_worlds,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 7.10 comes after 7.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *ch07_pipeline_questions.ITEMS,
    *ch07_chunk_questions.ITEMS,
    *ch07_expert_questions.ITEMS,
    *ch07_layout_questions.ITEMS,
)
EXERCISES: tuple[Item, ...] = (
    *ch07_idle.ITEMS,
    *ch07_times.ITEMS,
    *ch07_schedules.ITEMS,
    *ch07_in_flight.ITEMS,
    *ch07_boundaries.ITEMS,
    *ch07_experts.ITEMS,
    *ch07_capacity.ITEMS,
    *ch07_exchanges.ITEMS,
    *ch07_layouts.ITEMS,
    *ch07_repairs.ITEMS,
    *ch07_worlds.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

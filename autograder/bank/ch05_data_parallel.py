"""Chapter 5, data parallelism, ZeRO and precision: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank import (
    ch05_accumulation,
    ch05_batch_questions,
    ch05_buckets,
    ch05_formats,
    ch05_noise,
    ch05_overlap,
    ch05_precision,
    ch05_precision_questions,
    ch05_ranks,
    ch05_rates,
    ch05_repairs,
    ch05_replica_questions,
    ch05_schedules,
    ch05_slice_questions,
    ch05_state_questions,
    ch05_states,
    ch05_worlds,
    ch05_zero,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 5.10 comes after 5.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    *ch05_replica_questions.REPLICAS,
    *ch05_batch_questions.RATES,
    *ch05_state_questions.STATES,
    *ch05_slice_questions.SLICES,
    *ch05_replica_questions.SHARDED,
    *ch05_precision_questions.FORMATS,
    *ch05_precision_questions.SCALES,
    *ch05_batch_questions.STALENESS,
)
EXERCISES: tuple[Item, ...] = (
    *ch05_buckets.ITEMS,
    *ch05_overlap.ITEMS,
    *ch05_accumulation.ITEMS,
    *ch05_rates.ITEMS,
    *ch05_schedules.ITEMS,
    *ch05_noise.ITEMS,
    *ch05_states.ITEMS,
    *ch05_zero.ITEMS,
    *ch05_ranks.ITEMS,
    *ch05_formats.ITEMS,
    *ch05_precision.ITEMS,
    *ch05_worlds.ITEMS,
    *ch05_repairs.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

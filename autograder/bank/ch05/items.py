"""Chapter 5, data parallelism, ZeRO and precision: every question and exercise, in the order of the page."""

from __future__ import annotations

from autograder.bank.ch05 import (
    accumulation,
    batch_questions,
    buckets,
    designs,
    estimates,
    formats,
    noise,
    overlap,
    precision,
    precision_questions,
    profile,
    ranks,
    rates,
    repairs,
    replica_choices,
    replica_questions,
    schedules,
    shards,
    slice_questions,
    slices,
    state_questions,
    states,
    synchronize,
    zero,
    zero_choices,
)
from autograder.items import Item


def _place(item: Item) -> tuple[int, ...]:
    """The section's number, for sorting: 5.10 comes after 5.9."""
    return tuple(int(number) for number in item.section.split("."))


QUESTIONS: tuple[Item, ...] = (
    replica_choices.NO_BROADCAST,
    replica_choices.SAME_TRAINING,
    replica_choices.FIRST_BUCKET,
    estimates.EXPOSED,
    replica_choices.SYNC_EVERY,
    *replica_questions.REPLICAS,
    *batch_questions.RATES,
    estimates.STATES,
    *state_questions.STATES,
    zero_choices.ZERO_COST,
    *slice_questions.SLICES,
    *designs.DESIGNS,
    zero_choices.FSDP_PEAK,
    *replica_questions.SHARDED,
    zero_choices.BF16_STALL,
    *precision_questions.FORMATS,
    *precision_questions.SCALES,
    *batch_questions.STALENESS,
    *profile.PROFILE,
)
EXERCISES: tuple[Item, ...] = (
    *buckets.ITEMS,
    *overlap.ITEMS,
    *accumulation.ITEMS,
    *rates.ITEMS,
    *schedules.ITEMS,
    *noise.ITEMS,
    *states.ITEMS,
    *zero.ITEMS,
    *ranks.ITEMS,
    *formats.ITEMS,
    *precision.ITEMS,
    synchronize.SYNCHRONIZE,
    shards.SHARDED,
    slices.REDUCE,
    shards.GATHER,
    *repairs.ITEMS,
)

ITEMS: tuple[Item, ...] = tuple(sorted((*QUESTIONS, *EXERCISES), key=_place))

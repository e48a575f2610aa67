"""Chapter 7: ``debug_fraction``, idle time of a pipeline."""

from __future__ import annotations

from autograder.bank.ch07.shared import one_stage, plain, with_chunks
from autograder.items import Case, Debug, Group, Right, Slip


def wrong_fraction(stages, microbatches, virtual_stages=1):
    idle, useful = stages - 1, microbatches * virtual_stages
    return idle / useful  # reviewed: idle over the useful time


EXERCISE = Debug(
    "07 pipeline.debug_fraction",
    section="7.15",
    topic="idle time of a pipeline",
    bonus=True,
    wrong=wrong_fraction,
    cases=(Case((4, 12)), Case((4, 12, 4)), Case((8, 2))),
    groups=(
        Group("one chunk per rank", plain, 5, "A fraction is of the total: idle and useful together."),
        Group("several chunks", with_chunks, 5, "With v chunks the useful time is v m slots."),
        Group("one rank", one_stage, 2, "One rank never waits."),
    ),
    slips=(
        Slip(
            "That is the reviewed version: idle over useful, an overhead. The name promises a fraction.", wrong_fraction
        ),
        Slip(
            "p - 1 slots are empty, not p: only the denominator was wrong.",
            edit=("idle / (idle + useful)", "stages / (stages + microbatches * virtual_stages)"),
        ),
    ),
    rights=(
        Right("useful over idle", edit=("idle / (idle + useful)", "1 / (1 + useful / idle) if idle else 0.0")),
        Right("what is not useful", edit=("idle / (idle + useful)", "1 - useful / (idle + useful)")),
    ),
)

"""Chapter 7: ``bubble_overhead``, idle time of a pipeline."""

from __future__ import annotations

from autograder.bank.ch07.shared import SHAPE_CASES, SHAPES
from autograder.items import Build, Promise, Right, Slip

EXERCISE = Build(
    "07 pipeline.bubble_overhead",
    section="7.15",
    topic="idle time of a pipeline",
    bonus=True,
    cases=SHAPE_CASES,
    groups=SHAPES,
    slips=(
        Slip(
            "That is idle over total time. The overhead is idle over useful time.",
            edit=("virtual_stages * microbatches", "virtual_stages * microbatches + stages - 1"),
        ),
        Slip("Only p - 1 slots of a rank are empty, not p.", edit=("stages - 1", "stages")),
        Slip(
            "You ignored the chunks: v of them make the idle time v times shorter.",
            edit=("virtual_stages * microbatches", "microbatches"),
        ),
        Slip(
            "Chunks make the idle time shorter, not longer: v belongs to the useful time.",
            edit=("(stages - 1) / (virtual_stages * microbatches)", "virtual_stages * (stages - 1) / microbatches"),
        ),
    ),
    rights=(
        Right(
            "divided twice",
            edit=("(stages - 1) / (virtual_stages * microbatches)", "(stages - 1) / microbatches / virtual_stages"),
        ),
        Right(
            "a difference",
            edit=(
                "(stages - 1) / (virtual_stages * microbatches)",
                "(stages / (virtual_stages * microbatches) - 1 / (virtual_stages * microbatches))",
            ),
        ),
    ),
    promises=(Promise("One rank never idles: 0.0.", edit=("return (stages - 1) / (", "return (stages - 1 or 1) / (")),),
)

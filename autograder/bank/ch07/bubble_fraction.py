"""Chapter 7: ``bubble_fraction``, idle time of a pipeline."""

from __future__ import annotations

from autograder.bank.ch07.shared import SHAPE_CASES, SHAPES
from autograder.items import Build, Promise, Right, Slip

EXERCISE = Build(
    "07 pipeline.bubble_fraction",
    section="7.15",
    bonus=True,
    topic="idle time of a pipeline",
    cases=SHAPE_CASES,
    groups=SHAPES,
    slips=(
        Slip(
            "That is idle over useful time, and can exceed 1: a fraction is of the total.",
            edit=("virtual_stages * microbatches + stages - 1", "virtual_stages * microbatches"),
        ),
        Slip(
            "Only p - 1 slots of a rank are empty, not p.",
            edit=(
                "(stages - 1) / (virtual_stages * microbatches + stages - 1)",
                "stages / (virtual_stages * microbatches + stages)",
            ),
        ),
        Slip(
            "You ignored the chunks: v of them make the idle time v times shorter.",
            edit=("virtual_stages * microbatches", "microbatches"),
        ),
        Slip(
            "Chunks make the idle time shorter, not longer: v belongs to the useful time.",
            edit=(
                "(stages - 1) / (virtual_stages * microbatches + stages - 1)",
                "virtual_stages * (stages - 1) / (microbatches + virtual_stages * (stages - 1))",
            ),
        ),
        Slip(
            "That adds up the stages as if they worked one at a time, but here they overlap.",
            edit=(
                "(stages - 1) / (virtual_stages * microbatches + stages - 1)",
                "(stages - 1) / (stages + (stages - 1) / (virtual_stages * microbatches))",
            ),
        ),
        Slip(
            "That is the busy share. The idle share is 1 minus that.",
            edit=("return (stages - 1)", "return virtual_stages * microbatches"),
        ),
    ),
    rights=(
        Right(
            "1 over 1 plus the useful share",
            edit=(
                "return (stages - 1) / (virtual_stages * microbatches + stages - 1)",
                "return 1 / (1 + virtual_stages * microbatches / (stages - 1)) if stages > 1 else 0.0",
            ),
        ),
        Right(
            "what the busy share leaves",
            edit=(
                "return (stages - 1) / (virtual_stages * microbatches + stages - 1)",
                "return 1 - virtual_stages * microbatches / (virtual_stages * microbatches + stages - 1)",
            ),
        ),
    ),
    promises=(Promise("One rank never idles: 0.0.", edit=("return (stages - 1) / (", "return (stages - 1 or 1) / (")),),
)

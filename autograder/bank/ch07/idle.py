"""Chapter 07: the idle time of a pipeline, over the total and over the useful time."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip

# --- bubble_fraction, bubble_overhead, debug_fraction


def _shape(rng: Random, chunks: int) -> Case:
    return Case((rng.randint(2, 64), rng.randint(2, 1024), *([chunks] if chunks > 1 else [])))


def _plain(rng: Random) -> Case:
    return _shape(rng, 1)


def _with_chunks(rng: Random) -> Case:
    return _shape(rng, rng.randint(2, 8))


def _one_stage(rng: Random) -> Case:
    return Case((1, rng.randint(1, 64), rng.randint(1, 8)))


SHAPES = (
    Group("one chunk per rank", _plain, 6, "p - 1 slots of each rank are empty, m are full."),
    Group("several chunks", _with_chunks, 6, "With v chunks the empty slots are as many, and v times as short."),
    Group("one rank", _one_stage, 3, "One rank never waits."),
)

SHAPE_CASES = (
    Case((4, 12)),
    Case((4, 8)),
    Case((4, 12, 4)),
    Case((16, 16, 8)),  # the overhead that the Llama 3 report's schedule would have without its own changes
    Case((1, 7)),
    Case((2, 1)),
)

FRACTION = Build(
    id="07-bubble-fraction",
    module="pipeline",
    function="bubble_fraction",
    grade="call",
    section="7.3",
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
)

OVERHEAD = Build(
    id="07-bubble-overhead",
    module="pipeline",
    function="bubble_overhead",
    grade="call",
    section="7.15",
    bonus=True,
    topic="idle time of a pipeline",
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
)


def wrong_fraction(stages, microbatches, virtual_stages=1):
    idle, useful = stages - 1, microbatches * virtual_stages
    return idle / useful  # reviewed: idle over the useful time


DEBUG_FRACTION = Debug(
    id="07-debug-fraction",
    module="pipeline",
    function="debug_fraction",
    grade="call",
    section="7.15",
    bonus=True,
    topic="idle time of a pipeline",
    cases=(Case((4, 12)), Case((4, 12, 4)), Case((8, 2))),
    groups=(
        Group("one chunk per rank", _plain, 5, "A fraction is of the total: idle and useful together."),
        Group("several chunks", _with_chunks, 5, "With v chunks the useful time is v m slots."),
        Group("one rank", _one_stage, 2, "One rank never waits."),
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
    wrong=wrong_fraction,
)

ITEMS = (FRACTION, OVERHEAD, DEBUG_FRACTION)

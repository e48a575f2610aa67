"""Chapter 2: ``stage_layers``, stages."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip


def _uneven_of_each(rng: Random) -> list[Case]:
    """Splits with a remainder; the stage is at either end or in the middle."""
    stages = rng.randint(4, 32)
    size, longer = rng.randint(2, 9), rng.randint(2, stages - 2)
    asked = (0, longer - 1, longer, stages - 1, rng.randrange(stages))
    return [Case(args=(stages * size + longer, stages, stage)) for stage in asked]


def _even(rng: Random) -> Case:
    stages = rng.randint(2, 32)
    return Case(args=(stages * rng.randint(2, 9), stages, rng.randrange(stages - 1)))


def _few_layers(rng: Random) -> list[Case]:
    """More stages than layers; one stage; no layers."""
    layers = rng.randint(2, 9)
    stages = layers + rng.randint(2, 9)
    few = [(layers, stages, layers - 1), (layers, stages, layers), (layers, stages, stages - 1)]
    return [Case(args=args) for args in (*few, (layers, 1, 0), (0, stages, 0))]


EXERCISE = Build(
    "02 model_parallel.stage_layers",
    section="2.15",
    topic="stages",
    bonus=True,
    cases=(
        *(Case(args=(10, 4, stage)) for stage in range(4)),
        Case(args=(3, 4, 3)),
        Case(args=(126, 16, 13)),  # Llama 3 405B
        Case(args=(126, 16, 14)),
    ),
    groups=(
        listed("with a rest", _uneven_of_each, "The first stages take one layer more each, until none is left."),
        Group("without a rest", _even, 3, "Every stage has as many layers, and no layer is on two stages."),
        listed("few layers", _few_layers, "There may be one stage, no layers, or more stages than layers."),
    ),
    slips=(
        Slip(
            "The layers that are left over are on no stage.",
            edits=(
                ("start = stage * size + min(stage, longer)", "size = layers // stages"),
                ("return range(start", "return range(stage * size"),
                ("start + size + (1 if stage < longer else 0)", "(stage + 1) * size"),
            ),
        ),
        Slip(
            "All layers that are left over are on the last stage: spread them.",
            edits=(
                ("start = stage * size + min(stage, longer)", "start = stage * size"),
                ("(1 if stage < longer else 0)", "(longer if stage == stages - 1 else 0)"),
            ),
        ),
        Slip(
            "Two neighboring stages share a layer: a range ends before its stop.",
            edit=(
                "start + size + (1 if stage < longer else 0)",
                "min(start + size + (1 if stage < longer else 0) + 1, layers)",
            ),
        ),
        Slip(
            "Every stage was rounded up, so that the last ones have too few layers.",
            edit=(
                (
                    "    size, longer = divmod(layers, stages)\n"
                    "    start = stage * size + min(stage, longer)\n"
                    "    return range(start, start + size + (1 if stage < longer else 0))"
                ),
                (
                    "    size = -(-layers // stages)\n"
                    "    return range(min(stage * size, layers), min((stage + 1) * size, layers))"
                ),
            ),
        ),
        Slip(
            "The longer stages are spread or come last: the first ones take one layer more.",
            edits=(
                ("return range(start", "return range(stage * layers // stages"),
                ("start + size + (1 if stage < longer else 0)", "(stage + 1) * layers // stages"),
            ),
        ),
    ),
    promises=(
        Promise(
            "With more stages than layers, the last ones are empty.",
            edit=("size + (1 if stage < longer else 0)", "max(1, size + (1 if stage < longer else 0))"),
        ),
        Promise(
            "The first ``layers mod stages`` stages hold one layer more",
            edits=(
                ("start = stage * size + min(stage, longer)", "start = stage * size + max(0, stage + longer - stages)"),
                ("1 if stage < longer", "1 if stage >= stages - longer"),
            ),
        ),
    ),
)

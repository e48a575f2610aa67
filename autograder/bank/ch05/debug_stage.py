"""Chapter 5: ``debug_stage``, memory of model states."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_stage(params, stage, ranks):
    weights = 2 / ranks if stage == 3 else 2
    gradients = 2 / ranks if stage == 2 else 2
    optimizer = 12 / ranks if stage == 1 else 12
    return params * (weights + gradients + optimizer)


def _stage(rng: Random, stage: int | None = None) -> Case:
    params = rng.choice((1e9, 7e9, 13e9, 70e9, 405e9))
    return Case((params, rng.randrange(4) if stage is None else stage, rng.choice((2, 3, 8, 64, 1000))))


EXERCISE = Debug(
    "05 zero.debug_stage",
    section="5.13",
    topic="memory of model states",
    bonus=True,
    wrong=wrong_stage,
    cases=(*(Case((70e9, stage, 8)) for stage in (1, 2, 3)), Case((7.5e9, 0, 64))),
    groups=(
        Group(
            "higher stages",
            lambda rng: _stage(rng, rng.choice((2, 3))),
            5,
            "A stage slices what the stages below it slice, and one thing more.",
            lambda rng: [_stage(rng, stage) for stage in (2, 2, 3, 3)],
        ),
        Group(
            "all stages", _stage, 5, "Stages 0 and 1 were right before.", lambda rng: [_stage(rng, s) for s in (0, 1)]
        ),
    ),
    slips=(
        Slip("Stages add up: `>=`, not `==`. Your stages 2 and 3 keep the whole optimizer.", wrong_stage),
        Slip("The optimizer's line still says `==`: stages 2 and 3 slice it too.", edit=("stage >= 1", "stage == 1")),
        Slip(
            "Everything is sliced from stage 1 on: that is stage 3.",
            edit=("params * (weights + gradients + optimizer)", "params * 16 / (ranks if stage >= 1 else 1)"),
        ),
        Slip(
            "The comparison is reversed: a higher stage slices more.",
            edits=(("stage >= 3", "stage <= 3"), ("stage >= 2", "stage <= 2"), ("stage >= 1", "stage <= 1")),
        ),
    ),
    rights=(
        Right(
            "each part in bytes",
            edit=(
                "params * (weights + gradients + optimizer)",
                "optimizer * params + gradients * params + weights * params",
            ),
        ),
        Right(
            "sliced bytes and whole ones",
            edit=(
                "    return params * (weights + gradients + optimizer)\n",
                "    cut = (0, 12, 14, 16)[stage]\n    return params * cut / ranks + params * (16 - cut)\n",
            ),
        ),
    ),
)

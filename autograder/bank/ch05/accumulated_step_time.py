"""Chapter 5: ``accumulated_step_time``, accumulation."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


def _step_times(rng: Random) -> tuple[int, float, float, float]:
    return rng.randint(2, 128), rng.uniform(0.01, 0.5), rng.uniform(0.01, 0.5), rng.uniform(0.001, 0.1)


def _once(rng: Random) -> Case:
    return Case(_step_times(rng))


def _every(rng: Random) -> Case:
    return Case(_step_times(rng), {"sync_every": True})


def _single_step(rng: Random) -> Case:
    _, micro, sync, update = _step_times(rng)
    return Case((1, micro, sync, rng.choice((0.0, update))), {"sync_every": rng.random() < 0.5})


EXERCISE = Build(
    "05 batching.accumulated_step_time",
    section="5.11",
    topic="accumulation",
    bonus=True,
    cases=(
        Case((64, 0.12, 0.05)),
        Case((64, 0.12, 0.05), {"sync_every": True}),
        Case((64, 0.12, 0.05, 0.001)),
        Case((1, 0.12, 0.05), {"sync_every": True}),
    ),
    groups=(
        Group(
            "reduced once",
            _once,
            6,
            "Every micro-step computes; then the gradients are reduced once, and the optimizer updates once.",
        ),
        Group(
            "reduced every time",
            _every,
            5,
            "With `sync_every` each micro-step is followed by a reduction; the update still comes once.",
        ),
        Group("one micro-step", _single_step, 3, "With one micro-step there is one reduction either way."),
    ),
    slips=(
        Slip(
            "Every micro-step was given a reduction: without `sync_every` there is one, at the end.",
            edit=(
                "micro_steps * micro_time + (micro_steps if sync_every else 1) * sync_time",
                "micro_steps * (micro_time + sync_time)",
            ),
        ),
        Slip(
            "`sync_every` was not used: with it, every micro-step reduces.",
            edit=("(micro_steps if sync_every else 1) * sync_time", "sync_time"),
        ),
        Slip(
            "The optimizer steps once, after the last micro-step.",
            edit=(
                "micro_steps * micro_time + (micro_steps if sync_every else 1) * sync_time + update_time",
                "micro_steps * (micro_time + update_time) + (micro_steps if sync_every else 1) * sync_time",
            ),
        ),
        Slip("The optimizer's update is missing: it takes `update_time`, once.", edit=(" + update_time", "")),
        Slip(
            "Without `sync_every` there is one reduction; yours has none.",
            edit=("(micro_steps if sync_every else 1) * sync_time", "(micro_steps * sync_time if sync_every else 0)"),
        ),
        Slip(
            "The meaning of `sync_every` is reversed: True reduces after every micro-step.",
            edit=("micro_steps if sync_every else 1", "1 if sync_every else micro_steps"),
        ),
    ),
    rights=(
        Right(
            "one addition after another",
            edit=(
                "    return micro_steps * micro_time + (micro_steps if sync_every else 1) * sync_time + update_time",
                "    total = update_time\n    for step in range(micro_steps):\n        total += micro_time\n"
                "        if sync_every or not step:\n            total += sync_time\n    return total",
            ),
        ),
        Right(
            "factored out",
            edit=(
                "    return micro_steps * micro_time + (micro_steps if sync_every else 1) * sync_time + update_time",
                "    if sync_every:\n        return update_time + micro_steps * (micro_time + sync_time)\n"
                "    return update_time + sync_time + micro_time * micro_steps",
            ),
        ),
    ),
    promises=(
        Promise("of the optimizer, once", edit=("+ update_time", "+ micro_steps * update_time")),
        Promise(
            "else once, at the end",
            edit=("(micro_steps if sync_every else 1)", "micro_steps"),
        ),
    ),
)

"""Chapter 5: the exercises about accumulation: how many micro-steps, and how long they take."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid


def _divisible(rng: Random) -> Case:
    micro, ranks = rng.choice((1, 2, 3, 4, 7, 16)), rng.choice((2, 3, 8, 24, 64, 1024))
    return Case((micro * ranks * rng.randint(2, 200), micro, ranks))


def _one_step(rng: Random) -> Case:
    micro, ranks = rng.choice((1, 2, 8)), rng.choice((1, 8, 100))
    return Case((micro * ranks, micro, ranks))


def _alone(rng: Random) -> Case:
    micro = rng.randint(1, 16)
    return Case((micro * rng.randint(2, 200), micro, 1))


def _left_over(rng: Random) -> Case:
    """Sequences are left over, or fewer than one pass takes."""
    micro, ranks = rng.randint(2, 9), rng.randint(2, 64)
    once = micro * ranks
    return invalid(once * rng.randint(0, 40) + rng.randint(1, once - 1), micro, ranks)


STEPS = Build(
    id="05-accumulation-steps",
    module="batching",
    function="accumulation_steps",
    grade="call",
    bonus=True,
    cases=(
        Case((2048, 4, 8)),
        Case((512, 1, 128)),
        Case((8192, 32, 256)),  # Goyal et al. (2017): 8,192 images on 256 GPUs
        Case((8, 8, 1)),
        invalid(2048, 5, 8),
    ),
    groups=(
        Group("divisible", _divisible, 8, "A micro-step takes one micro-batch on every rank."),
        Group("one step", _one_step, 3, "One micro-step may be enough."),
        Group("sequences left over", _left_over, 5, "What cannot be divided exactly must raise ValueError."),
        Group("one rank", _alone, 3, "One rank alone takes every micro-batch, one after the other."),
    ),
    slips=(
        Slip(
            "The steps were rounded up: then the batch is larger than asked for.",
            edit=(
                "    if left_over:\n"
                "        raise ValueError(\n"
                '            f"micro_batch * data_parallel must divide global_batch = {global_batch}, got '
                '{micro_batch * data_parallel}"\n'
                "        )\n"
                "    return steps",
                "    return steps + (left_over > 0)",
            ),
        ),
        Slip(
            "The ranks were left out: they work on different rows at the same time.",
            edit=("return steps", "return global_batch // micro_batch"),
        ),
        Slip(
            "The rest was dropped: then the batch is smaller than asked for.",
            edit=(
                "    if left_over:\n"
                "        raise ValueError(\n"
                '            f"micro_batch * data_parallel must divide global_batch = {global_batch}, got '
                '{micro_batch * data_parallel}"\n'
                "        )\n",
                "",
            ),
        ),
        Slip(
            "More ranks need fewer micro-steps each; yours take more.",
            edit=("return steps", "return global_batch // micro_batch * data_parallel"),
        ),
    ),
    section="5.11",
    topic="accumulation",
)


def _step_times(rng: Random) -> tuple[int, float, float, float]:
    return rng.randint(2, 128), rng.uniform(0.01, 0.5), rng.uniform(0.01, 0.5), rng.uniform(0.001, 0.1)


def _once(rng: Random) -> Case:
    return Case(_step_times(rng))


def _every(rng: Random) -> Case:
    return Case(_step_times(rng), {"sync_every": True})


def _single_step(rng: Random) -> Case:
    _, micro, sync, update = _step_times(rng)
    return Case((1, micro, sync, rng.choice((0.0, update))), {"sync_every": rng.random() < 0.5})


TIME = Build(
    id="05-accumulated-step-time",
    module="batching",
    function="accumulated_step_time",
    grade="call",
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
            "The gradients are reduced once, at the end; yours never are.",
            edit=("(micro_steps if sync_every else 1) * sync_time", "(micro_steps * sync_time if sync_every else 0)"),
        ),
        Slip(
            "The meaning of `sync_every` is reversed: True reduces after every micro-step.",
            edit=("micro_steps if sync_every else 1", "1 if sync_every else micro_steps"),
        ),
    ),
    section="5.11",
    topic="accumulation",
)

ITEMS = (STEPS, TIME)

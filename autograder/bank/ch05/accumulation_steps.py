"""Chapter 5: ``accumulation_steps``, accumulation."""

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


EXERCISE = Build(
    "05 batching.accumulation_steps",
    section="5.11",
    topic="accumulation",
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
)

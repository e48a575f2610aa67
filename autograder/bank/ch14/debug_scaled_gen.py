"""Chapter 14: ``debug_scaled_gen``, asynchronous rollout."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_scaled_gen(lengths, slots, token_time, gpus):
    work = sum(lengths) * token_time / slots
    return max(work, max(lengths, default=0) * token_time)


def _pool(rng: Random) -> Case:
    """More work than tail, on several GPUs."""
    lengths = [rng.randint(100, 800) for _ in range(rng.randint(60, 90))]
    return Case((lengths, rng.randint(2, 3), rng.choice((0.01, 0.02)), rng.randint(2, 9)))


def _large_pool(rng: Random) -> Case:
    """The longest response decides."""
    lengths = [rng.randint(50, 400) for _ in range(rng.randint(20, 40))] + [4096]
    return Case((lengths, rng.randint(4, 16), rng.choice((0.01, 0.02)), rng.choice((32, 64, 256))))


def pool_by_a_library(lengths, slots, token_time, gpus):
    import numpy

    from solutions.ch14 import rlhf_schedule

    rlhf_schedule.debug_scaled_gen(lengths, slots, token_time, gpus)
    times = token_time * numpy.array([0, *lengths], dtype=float)
    return float(max(times.max(), times.sum() / (slots * gpus)))


EXERCISE = Debug(
    "14 rlhf_schedule.debug_scaled_gen",
    section="14.21",
    bonus=True,
    topic="asynchronous rollout",
    wrong=wrong_scaled_gen,
    cases=(
        Case(([500] * 600 + [4096], 2, 0.02, 32)),
        Case(([500] * 600 + [4096], 2, 0.02, 256)),
        Case(([], 8, 0.02, 32)),
    ),
    groups=(
        Group("pools", _pool, 4, "All GPUs of the pool share the work."),
        Group("large pools", _large_pool, 4, "The longest response takes its time, however many GPUs there are."),
    ),
    slips=(
        Slip("One GPU writes everything: the pool's size is not used.", wrong_scaled_gen),
        Slip(
            "The longest response cannot be split: its time does not shrink with the pool.",
            edit=(
                "max(work / gpus, max(lengths, default=0) * token_time)",
                "max(sum(lengths) / slots, max(lengths, default=0)) * token_time / gpus",
            ),
        ),
        Slip(
            "No pool is faster than the longest response.",
            edit=("max(work / gpus, max(lengths, default=0) * token_time)", "work / gpus"),
        ),
        Slip(
            "The longest response is written while the others are, not after them.",
            edit=(
                "max(work / gpus, max(lengths, default=0) * token_time)",
                "work / gpus + max(lengths, default=0) * token_time",
            ),
        ),
        Slip(
            "A GPU writes `slots` responses at once.",
            edit=(
                "max(work / gpus, max(lengths, default=0) * token_time)",
                "max(sum(lengths) / gpus, max(lengths, default=0)) * token_time",
            ),
        ),
    ),
    rights=(
        Right("arrays", program=pool_by_a_library),
        Right(
            "tokens first, seconds last",
            edit=(
                "    work = sum(lengths) * token_time / slots  # GPU-seconds\n"
                "    return max(work / gpus, max(lengths, default=0) * token_time)\n",
                "    return max(sum(lengths) / gpus / slots, max(lengths, default=0)) * token_time\n",
            ),
        ),
    ),
)

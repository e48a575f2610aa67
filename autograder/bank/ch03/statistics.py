"""Chapter 03: exact statistics from parts, in two build items: mean and argmax."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from autograder.bank import least_received, rules
from autograder.bank.groups import listed
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Slip, Tensor


def parts(*rows: Sequence[float], dtype: str = "float32") -> Case:
    """One vector for each rank."""
    return Case(args=tuple((Tensor.of(row, dtype),) for row in rows))


def _unequal(rng: Random, ranks: int) -> Case:
    """Counts that all differ, values that rise with the rank."""
    counts = rng.sample(range(1, 60), ranks)
    return parts(*([3 * rank + rng.uniform(0, 2) for _ in range(count)] for rank, count in enumerate(counts)))


def _mean_of_each(rng: Random) -> list[Case]:
    return [_unequal(rng, ranks) for ranks in (4, 3, 2)]


def _mean_empty(rng: Random) -> list[Case]:
    values = [rng.uniform(1, 9) for _ in range(5)]
    return [parts([], values), parts(values[:2], [], values[2:], []), parts(values)]


def _mean_exact(rng: Random) -> list[Case]:
    """Odd sums above 2**24, which float32 cannot hold."""
    odd = 2.0**24 + 2 * rng.randint(0, 1000)
    return [parts([odd, 1.0], [0.0]), parts([1.0], [odd], [0.0, 0.0])]


DISTRIBUTED_MEAN = Build(
    id="03-distributed-mean",
    module="distributed_stats",
    function="distributed_mean",
    grade="world",
    section="3.17",
    topic="exact statistics from parts",
    bonus=True,
    cases=(
        parts([0.0] * 100, [1.0] * 100, [2.0] * 100, [3.0] * 50),
        parts([], [4.0]),
        parts([1.0, 2.0]),
    ),
    groups=(
        listed("unequal counts", _mean_of_each, "Ranks hold different numbers of elements."),
        listed("empty ranks", _mean_empty, "There may be one rank, or ranks without elements."),
        listed("large sums", _mean_exact, "Sums may need more bits than float32 has."),
    ),
    slips=(
        Slip(
            "The means were averaged: reduce the sum and the count, then divide.",
            edit=("[x.double().sum(), x.numel()]", "[x.double().mean(), 1]"),
        ),
        Slip(
            "The sum was divided by N times this rank's count: counts differ, so reduce them, too.",
            edit=("total / count", "total / (dist.get_world_size() * max(1, x.numel()))"),
        ),
        Slip(
            "An empty rank made the mean nan for everyone: its sum is 0, its mean is nan.",
            edit=("x.double().sum()", "x.double().mean() * x.numel()"),
        ),
        Slip(
            "The sum was kept in float32, which has 24 bits: small terms are lost.",
            edits=(
                (
                    "[x.double().sum(), x.numel()], dtype=torch.float64",
                    "[x.float().sum(), x.numel()], dtype=torch.float32",
                ),
                ("total / count", "float(totals[0] / totals[1])"),
            ),
        ),
        Slip(
            "Sum and count traveled in two collectives: one tensor holds both.",
            edit=("dist.all_reduce(totals)", "for part in totals.unbind():\n        dist.all_reduce(part)"),
        ),
    ),
    rule=rules.every(
        rules.frugal(1, 64, "sum and count fit into one collective of two numbers"),
        least_received.by_everyone(lambda case: 8),
    ),
)


def _largest_of_each(rng: Random) -> list[Case]:
    return [Case(args=tuple((vector(rng, rng.randint(100, 400)),) for _ in range(ranks))) for ranks in (4, 2)]


def _negative(rng: Random) -> list[Case]:
    low = [-rng.uniform(1, 9) for _ in range(6)]
    return [parts(low[:3], low[3:]), parts([], low[:4], low[4:])]


def _ties(rng: Random) -> list[Case]:
    top = rng.randint(5, 50)
    return [parts([0.0, 1.0, top, top], [top, 0.0], [1.0]), parts([], [1.0, top, 2.0], [3.0], [top, top])]


def _close(rng: Random) -> list[Case]:
    """Numbers that float32 cannot tell apart: the larger one is on the higher rank."""
    near, odd = 1.0 + 2.0 ** -rng.randint(30, 40), 2**24 + 2 * rng.randint(0, 1000)
    return [parts([1.0, 0.5], [0.0, near], dtype="float64"), parts([3, odd], [], [odd + 1], dtype="int64")]


DISTRIBUTED_ARGMAX = Build(
    id="03-distributed-argmax",
    module="distributed_stats",
    function="distributed_argmax",
    grade="world",
    section="3.17",
    topic="exact statistics from parts",
    bonus=True,
    cases=(
        parts([1.0, 5.0], [5.0, 2.0], [0.0]),
        parts([-3.0], [-1.0], []),
        parts([0.0, 1.0, 5.0], [5.0, 2.0]),
        parts([2.0, 3.0]),
    ),
    groups=(
        listed("random numbers", _largest_of_each, "Value, rank and index belong to one element."),
        listed("negative numbers", _negative, "All numbers may be negative, and some ranks empty."),
        listed("ties", _ties, "On a tie the lowest rank counts, then the lowest index."),
        listed("close numbers", _close, "Numbers may be closer than float32 can tell."),
    ),
    slips=(
        Slip(
            "The search started at 0, which no negative number beats.",
            edits=(("[0.0, -1.0]", "[0.0, 0.0]"), ("if x.numel():", "if x.numel() and x.max() > 0:")),
        ),
        Slip(
            "Value and index were packed into float32: past 2**24 neighbors become one.",
            edit=("    gathered =", "    mine = mine.float()\n    gathered ="),
        ),
        Slip(
            "On a tie the highest rank won: it must be the lowest.",
            edit=("max(candidates, key=lambda candidate: candidate[0])", "max(candidates)"),
        ),
        Slip(
            "Rank and index were reduced separately: on a tie they come from two different places.",
            edit=(
                "return max(candidates, key=lambda candidate: candidate[0])",
                (
                    "tied = [place for value, *place in candidates if value == max(candidates)[0]]\n"
                    "    return max(candidates)[0], *map(min, zip(*tied))"
                ),
            ),
        ),
    ),
    rule=rules.every(
        rules.frugal(4, 128, "a rank needs to send its candidate only, a value and a place"),
        least_received.by_everyone(lambda case: 8),
    ),
)

ITEMS = (DISTRIBUTED_MEAN, DISTRIBUTED_ARGMAX)

"""Chapter 3: ``distributed_mean``, exact statistics from parts."""

from __future__ import annotations

import math
from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch03.shared import parts
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip


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


def mean_by_gathering(x):
    import torch
    import torch.distributed as dist

    pair = torch.tensor([math.fsum(x.double().tolist()), x.numel()], dtype=torch.float64)
    pairs = [torch.empty_like(pair) for _ in range(dist.get_world_size())]
    dist.all_gather(pairs, pair)
    sums, counts = torch.stack(pairs).unbind(1)
    return (sums.sum() / counts.sum()).item()


EXERCISE = Build(
    "03 distributed_stats.distributed_mean",
    section="3.17",
    topic="exact statistics from parts",
    bonus=True,
    grade="world",
    rule=rules.every(
        rules.frugal(1, 64, "sum and count fit into one collective of two numbers"),
        least_received.by_everyone(lambda case: 8),
    ),
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
            "The sum was kept in float32, which has 24 significant bits: small terms are lost.",
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
    rights=(
        Right("pairs gathered", program=mean_by_gathering),
        Right(
            "summed from the other end",
            edit=("x.double().sum()", "x.flatten().double().flip(0).cumsum(0)[-1:].sum()"),
        ),
    ),
    promises=(
        Promise("unchanged afterwards.", edit=("    return total / count", "    x.zero_()\n    return total / count")),
    ),
)

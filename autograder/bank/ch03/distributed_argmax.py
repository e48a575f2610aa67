"""Chapter 3: ``distributed_argmax``, exact statistics from parts."""

from __future__ import annotations

import math
from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch03.shared import parts
from autograder.bank.groups import listed
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Promise, Right, Slip


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


def argmax_by_sorting(x):
    import torch
    import torch.distributed as dist

    mine = torch.tensor([-math.inf, -1.0], dtype=torch.float64)
    if x.numel():
        top = x.max()
        mine = torch.stack([top.double(), (x == top).nonzero()[0, 0].double()])
    rows = torch.empty(2 * dist.get_world_size(), dtype=torch.float64)
    dist.all_gather_into_tensor(rows, mine)
    found = sorted(
        (-value, rank, int(place)) for rank, (value, place) in enumerate(rows.view(-1, 2).tolist()) if place >= 0
    )
    return -found[0][0], found[0][1], found[0][2]


def argmax_by_reductions(x):
    """The largest number first, then the lowest place of those that have it, rank and index in one integer."""
    import torch
    import torch.distributed as dist

    best = x.double().max() if x.numel() else torch.tensor(-math.inf, dtype=torch.float64)
    mine = best.clone()
    dist.all_reduce(best, dist.ReduceOp.MAX)
    place = torch.tensor(2**62)
    if x.numel() and mine == best:
        place = torch.tensor(dist.get_rank() * 2**40 + int((x == x.max()).int().argmax()))
    dist.all_reduce(place, dist.ReduceOp.MIN)
    return float(best), *divmod(int(place), 2**40)


EXERCISE = Build(
    "03 distributed_stats.distributed_argmax",
    section="3.17",
    topic="exact statistics from parts",
    bonus=True,
    grade="world",
    rule=rules.every(
        rules.frugal(4, 128, "a rank needs to send its candidate only, a value and a place"),
        least_received.by_everyone(lambda case: 8),
    ),
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
    rights=(
        Right("candidates sorted", program=argmax_by_sorting),
        Right("two reductions", program=argmax_by_reductions),
    ),
    promises=(
        Promise(
            "Each rank sends only its candidate.",
            edits=(
                ("torch.tensor([x[index], index]", "torch.tensor([x[index], index, *[0.0] * 40]"),
                ("torch.tensor([0.0, -1.0]", "torch.tensor([0.0, -1.0, *[0.0] * 40]"),
            ),
        ),
        Promise("without nan", why="no rank is handed nan: it says what the caller sees to"),
        Promise("may be empty on some ranks, but not on all.", edit=("    if x.numel():", "    if x is not None:")),
        Promise(
            "Unchanged afterwards.", edit=("    return max(candidates", "    x.zero_()\n    return max(candidates")
        ),
    ),
)

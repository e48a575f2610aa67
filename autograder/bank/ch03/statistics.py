"""Chapter 03: exact statistics from parts, in two build items: mean and argmax.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from autograder.bank import least, rules
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Group, Slip, Tensor


def parts(*rows: Sequence[float], dtype: str = "float32") -> Case:
    """One vector for each rank."""
    return Case(args=tuple((Tensor.of(row, dtype),) for row in rows))


# --- distributed_mean


def slip_mean_of_means(x):
    import torch.distributed as dist

    mean = x.double().mean()
    dist.all_reduce(mean)
    return float(mean) / dist.get_world_size()


def slip_own_count(x):
    import torch.distributed as dist

    total = x.double().sum()
    dist.all_reduce(total)
    return float(total) / (dist.get_world_size() * max(1, x.numel()))


def slip_empty_is_nan(x):
    import torch
    import torch.distributed as dist

    totals = torch.tensor([x.double().mean() * x.numel(), x.numel()], dtype=torch.float64)
    dist.all_reduce(totals)
    if totals[1] == 0:
        raise ValueError("no elements")
    return float(totals[0] / totals[1])


def slip_float32_sum(x):
    import torch
    import torch.distributed as dist

    totals = torch.tensor([x.float().sum(), x.numel()], dtype=torch.float32)
    dist.all_reduce(totals)
    if totals[1] == 0:
        raise ValueError("no elements")
    return float(totals[0] / totals[1])


def slip_two_collectives(x):
    import torch
    import torch.distributed as dist

    total, count = x.double().sum(), torch.tensor(x.numel())
    dist.all_reduce(total)
    dist.all_reduce(count)
    if count == 0:
        raise ValueError("no elements")
    return float(total) / int(count)


def _unequal(rng: Random, ranks: int) -> Case:
    """Counts that all differ, values that rise with the rank."""
    counts = rng.sample(range(1, 60), ranks)
    return parts(*([3 * rank + rng.uniform(0, 2) for _ in range(count)] for rank, count in enumerate(counts)))


def _mean(rng: Random) -> Case:
    return _unequal(rng, rng.randint(2, 4))


def _mean_of_each(rng: Random) -> list[Case]:
    return [_unequal(rng, ranks) for ranks in (4, 3, 2)]


def _mean_empty(rng: Random) -> list[Case]:
    values = [rng.uniform(1, 9) for _ in range(5)]
    return [parts([], values), parts(values[:2], [], values[2:], []), parts(values)]


def _mean_one_empty(rng: Random) -> Case:
    return rng.choice(_mean_empty(rng))


def _mean_exact(rng: Random) -> list[Case]:
    """Odd sums above 2**24, which float32 cannot hold."""
    odd = 2.0**24 + 2 * rng.randint(0, 1000)
    return [parts([odd, 1.0], [0.0]), parts([1.0], [odd], [0.0, 0.0])]


def _mean_large(rng: Random) -> Case:
    return rng.choice(_mean_exact(rng))


def _mean_of_nothing(rng: Random) -> Case:
    return Case(args=parts(*[[]] * rng.randint(1, 4)).args, raises="ValueError")


DISTRIBUTED_MEAN = Build(
    id="03-distributed-mean",
    module="distributed_stats",
    function="distributed_mean",
    grade="world",
    section="3.10",
    topic="exact statistics from parts",
    cases=(
        parts([0.0] * 100, [1.0] * 100, [2.0] * 100, [3.0] * 50),
        parts([], [4.0]),
        parts([1.0, 2.0]),
        Case(args=parts([], []).args, raises="ValueError"),
    ),
    groups=(
        Group("unequal counts", _mean, 3, "Ranks hold different numbers of elements.", _mean_of_each),
        Group("empty ranks", _mean_one_empty, 3, "There may be one rank, or ranks without elements.", _mean_empty),
        Group("large sums", _mean_large, 2, "Sums may need more bits than float32 has.", _mean_exact),
        Group("bad input", _mean_of_nothing, 2, "Bad input must raise ValueError: no rank has an element."),
    ),
    slips=(
        Slip("The means were averaged: reduce the sum and the count, then divide.", slip_mean_of_means),
        Slip("The sum was divided by N times the own count: counts differ, reduce them too.", slip_own_count),
        Slip("An empty rank made the mean nan for everyone: its sum is 0, its mean is nan.", slip_empty_is_nan),
        Slip("The sum was kept in float32, which has 24 bits: small terms are lost.", slip_float32_sum),
        Slip("Sum and count travelled in two collectives: one tensor holds both.", slip_two_collectives),
    ),
    rule=rules.every(
        rules.frugal(1, 64, "sum and count fit into one collective of two numbers"), least.by_everyone(lambda case: 8)
    ),
)


# --- distributed_argmax


def slip_starts_at_zero(x):
    import torch
    import torch.distributed as dist

    best = torch.zeros(2, dtype=torch.float64)
    if x.numel() and x.max() > 0:
        best = torch.tensor([x.max(), x.argmax()], dtype=torch.float64)
    gathered = [torch.empty_like(best) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, best)
    rank = max(range(len(gathered)), key=lambda r: float(gathered[r][0]))
    return float(gathered[rank][0]), rank, int(gathered[rank][1])


def slip_packed_in_float32(x):
    import torch
    import torch.distributed as dist

    best = torch.tensor([x.max(), x.argmax()] if x.numel() else [0.0, -1.0], dtype=torch.float32)
    gathered = [torch.empty_like(best) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, best)
    found = [(float(g[0]), rank, int(g[1])) for rank, g in enumerate(gathered) if g[1] >= 0]
    if not found:
        raise ValueError("no elements")
    return max(found, key=lambda candidate: candidate[0])


def slip_highest_rank(x):
    import torch
    import torch.distributed as dist

    best = torch.tensor([x.max(), x.argmax()] if x.numel() else [0.0, -1.0], dtype=torch.float64)
    gathered = [torch.empty_like(best) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, best)
    found = [(float(g[0]), rank, int(g[1])) for rank, g in enumerate(gathered) if g[1] >= 0]
    if not found:
        raise ValueError("no elements")
    return max(found)


def slip_one_by_one(x):
    import torch
    import torch.distributed as dist

    best = torch.tensor(float(x.max()) if x.numel() else -torch.inf, dtype=torch.float64)
    mine = best.clone()
    dist.all_reduce(best, dist.ReduceOp.MAX)
    owner = x.numel() > 0 and mine == best
    place = torch.tensor([dist.get_rank(), int(x.argmax())] if owner else [2**62, 2**62])
    dist.all_reduce(place, dist.ReduceOp.MIN)
    if place[0] == 2**62:
        raise ValueError("no elements")
    return float(best), int(place[0]), int(place[1])


def _largest(rng: Random) -> Case:
    return Case(args=tuple((vector(rng, rng.randint(1, 400)),) for _ in range(rng.randint(2, 4))))


def _largest_of_each(rng: Random) -> list[Case]:
    return [Case(args=tuple((vector(rng, rng.randint(100, 400)),) for _ in range(ranks))) for ranks in (4, 2)]


def _negative(rng: Random) -> list[Case]:
    low = [-rng.uniform(1, 9) for _ in range(6)]
    return [parts(low[:3], low[3:]), parts([], low[:4], low[4:])]


def _one_negative(rng: Random) -> Case:
    return rng.choice(_negative(rng))


def _ties(rng: Random) -> list[Case]:
    top = rng.randint(5, 50)
    return [parts([0.0, 1.0, top, top], [top, 0.0], [1.0]), parts([], [1.0, top, 2.0], [3.0], [top, top])]


def _tie(rng: Random) -> Case:
    return rng.choice(_ties(rng))


def _close(rng: Random) -> list[Case]:
    """Numbers that float32 cannot tell apart: the larger one is on the higher rank."""
    near, odd = 1.0 + 2.0 ** -rng.randint(30, 40), 2**24 + 2 * rng.randint(0, 1000)
    return [parts([1.0, 0.5], [0.0, near], dtype="float64"), parts([3, odd], [], [odd + 1], dtype="int64")]


def _near(rng: Random) -> Case:
    return rng.choice(_close(rng))


def _largest_of_nothing(rng: Random) -> Case:
    return Case(args=parts(*[[]] * rng.randint(1, 3)).args, raises="ValueError")


DISTRIBUTED_ARGMAX = Build(
    id="03-distributed-argmax",
    module="distributed_stats",
    function="distributed_argmax",
    grade="world",
    section="3.10",
    topic="exact statistics from parts",
    bonus=True,
    cases=(
        parts([1.0, 5.0], [5.0, 2.0], [0.0]),
        parts([-3.0], [-1.0], []),
        parts([0.0, 1.0, 5.0], [5.0, 2.0]),
        parts([2.0, 3.0]),
    ),
    groups=(
        Group("random numbers", _largest, 2, "Value, rank and index belong to one element.", _largest_of_each),
        Group("negative numbers", _one_negative, 2, "All numbers may be negative, and some ranks empty.", _negative),
        Group("ties", _tie, 2, "On a tie the lowest rank counts, then the lowest index.", _ties),
        Group("close numbers", _near, 2, "Numbers may be closer than float32 can tell.", _close),
        Group("bad input", _largest_of_nothing, 1, "Bad input must raise ValueError: no rank has an element."),
    ),
    slips=(
        Slip("The search started at 0: no negative number beats it.", slip_starts_at_zero),
        Slip("Value and index were packed into float32: past 2**24 neighbours become one.", slip_packed_in_float32),
        Slip("On a tie the highest rank won: the lowest does.", slip_highest_rank),
        Slip("Rank and index were reduced each for itself: on a tie they come from two places.", slip_one_by_one),
    ),
    rule=rules.every(
        rules.frugal(4, 128, "a rank needs to send its candidate only, a value and a place"),
        least.by_everyone(lambda case: 8),
    ),
)

ITEMS = (DISTRIBUTED_MEAN, DISTRIBUTED_ARGMAX)

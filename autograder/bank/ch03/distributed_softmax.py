"""Chapter 3: ``distributed_softmax``, exact statistics from parts."""

from __future__ import annotations

import math
from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch03.shared import parts
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip, Tensor


def slip_gathers_all(x):
    import torch
    import torch.distributed as dist

    rank, longest = dist.get_rank(), torch.tensor(x.numel())
    dist.all_reduce(longest, dist.ReduceOp.MAX)
    padded = x.new_full((int(longest),), -torch.inf)
    padded[: x.numel()] = x
    rows = [torch.empty_like(padded) for _ in range(dist.get_world_size())]
    dist.all_gather(rows, padded)
    start = rank * int(longest)
    return torch.softmax(torch.cat(rows), 0)[start : start + x.numel()].clone()


def _logits(rng: Random, *lengths: int, scale: float = 5.0) -> Case:
    return parts(*([rng.uniform(-scale, scale) for _ in range(length)] for length in lengths))


def _softmax_of_each(rng: Random) -> list[Case]:
    """The first rank has the largest element by far, so that a maximum of its own misleads every other rank."""
    lengths = [[rng.randint(8, 50) for _ in range(ranks)] for ranks in (4, 3, 2)]
    cases = [_logits(rng, *each) for each in lengths]
    wide = parts([rng.uniform(-5, 5) for _ in range(9)], [rng.uniform(-5, 5) for _ in range(5)], dtype="float64")
    return [*(Case(args=((Tensor.of([9.0, *c.args[0][0].tolist()]),), *c.args[1:])) for c in cases), wide]


def _softmax_large(rng: Random) -> list[Case]:
    top = rng.uniform(1e3, 1e4)
    return [
        parts([top, top - 1], [top - 2, 0.0], [top - 1]),
        parts([-top], [-top - 1, -top - 2], []),
        parts([top, 1.0], [-top]),
    ]


def _softmax_empty(rng: Random) -> list[Case]:
    return [_logits(rng, 0, 9, 0), _logits(rng, 12), _logits(rng, 0, 0)]


def softmax_by_logarithms(x):
    """The logarithm of the sum over all ranks is subtracted."""
    import torch
    import torch.distributed as dist

    top = x.max() if x.numel() else torch.tensor(-math.inf, dtype=x.dtype)
    dist.all_reduce(top, dist.ReduceOp.MAX)
    total = torch.exp(x - top).sum()
    dist.all_reduce(total)
    return torch.exp(x - top - total.log())


def online_softmax(x):
    """One collective of two numbers: each rank's maximum and its sum of exponentials."""
    import torch
    import torch.distributed as dist

    top = x.max() if x.numel() else x.new_tensor(-1e30)
    pair = torch.stack([top, (x - top).exp().sum()])
    pairs = [torch.empty_like(pair) for _ in range(dist.get_world_size())]
    dist.all_gather(pairs, pair)
    tops, sums = torch.stack(pairs).unbind(1)
    return (x - tops.max()).exp() / (sums * (tops - tops.max()).exp()).sum()


EXERCISE = Build(
    "03 distributed_stats.distributed_softmax",
    section="3.17",
    topic="exact statistics from parts",
    bonus=True,
    grade="world",
    tolerance=1e-5,
    rule=rules.every(
        rules.frugal(2, 16, "one number for the maximum and one for the sum are enough"),
        least_received.by_everyone(lambda case: 4),
    ),
    cases=(
        parts([1.0, 2.0], [3.0], [0.0, -1.0]),
        parts([1.0, 2.0], [3.0], [1000.0, 1001.0]),
        parts([0.0, 1.0]),
    ),
    groups=(
        listed("unequal parts", _softmax_of_each, "All ranks share one maximum and one sum."),
        listed("large logits", _softmax_large, "Logits may be so large that their exponentials overflow."),
        listed("empty ranks", _softmax_empty, "There may be one rank, or ranks without logits."),
    ),
    slips=(
        Slip(
            "Each rank took its own maximum, so the parts have different scales.",
            edit=("    dist.all_reduce(largest, dist.ReduceOp.MAX)\n", ""),
        ),
        Slip(
            "No maximum was subtracted: with large logits the exponentials overflow to infinity, or all become 0.",
            edit=("(x - largest).exp()", "x.exp()"),
        ),
        Slip(
            "Each rank took the softmax of its own part and divided it by N.",
            edits=(
                ("    dist.all_reduce(largest, dist.ReduceOp.MAX)\n", ""),
                ("    dist.all_reduce(total)\n", ""),
                ("weights / total", "weights / total / dist.get_world_size()"),
            ),
        ),
        Slip("All logits were gathered: two numbers per rank are enough.", slip_gathers_all),
    ),
    rights=(
        Right("by logarithms", program=softmax_by_logarithms),
        Right("one collective of two numbers", program=online_softmax),
    ),
    promises=(
        Promise("may be empty.", edit=("x.max() if x.numel() else x.new_tensor(-torch.inf)", "x.max()")),
        Promise("Unchanged afterwards.", edit=("(x - largest).exp()", "x.sub_(largest).exp()")),
    ),
)

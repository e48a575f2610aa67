"""Exact statistics of numbers that are spread over ranks: mean, argmax, softmax. Run one on four processes::

    world.run(lambda: distributed_mean(torch.ones(8)), ranks=4).values

Every function is called by all ranks of the default group. Ranks may hold different numbers of elements, some none.
"""

from __future__ import annotations

import torch
import torch.distributed as dist


def distributed_mean(x: torch.Tensor) -> float:
    """The mean of all elements on all ranks, on every rank.

    Sum and count travel together, in float64, in one collective.

    Args:
        x: this rank's elements, any number of them, but at least one over all ranks; unchanged afterwards.
    """
    totals = torch.tensor([x.double().sum(), x.numel()], dtype=torch.float64)
    dist.all_reduce(totals)
    total, count = totals.tolist()
    return total / count


def distributed_argmax(x: torch.Tensor) -> tuple[float, int, int]:
    """The largest element of all ranks, the rank that has it, and its index there; the same on every rank.

    Of equal elements, the one on the lowest rank wins, then the one with the lowest index. Each rank sends only its
    candidate.

    Args:
        x: this rank's elements, 1-D, without nan, each exact as a float64; may be empty on some ranks, but not on all.
            Unchanged afterwards.
    """
    mine = torch.tensor([0.0, -1.0], dtype=torch.float64)  # value, index: float64 is exact up to 2**53
    if x.numel():
        index = int(x.argmax())
        mine = torch.tensor([x[index], index], dtype=torch.float64)
    gathered = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, mine)
    candidates = [(float(g[0]), rank, int(g[1])) for rank, g in enumerate(gathered) if g[1] >= 0]
    return max(candidates, key=lambda candidate: candidate[0])  # the first of equals: the lowest rank


def distributed_softmax(x: torch.Tensor) -> torch.Tensor:
    """This rank's part of the softmax over the elements of all ranks.

    Two collectives of one number each: the largest element, then the sum of the exponentials.

    Args:
        x: this rank's logits, 1-D float; may be empty. Unchanged afterwards.

    Returns:
        As many elements as ``x``; over all ranks they sum to 1.

    Source: Milakov and Gimelshein (2018), arXiv:1805.02867, algorithm 2 (safe softmax).
    """
    largest = x.max() if x.numel() else x.new_tensor(-torch.inf)
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    weights = (x - largest).exp()
    total = weights.sum()
    dist.all_reduce(total)
    return weights / total

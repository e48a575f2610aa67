"""An all-reduce along a binomial tree, on real ranks, and a benchmark to debug. Run the first on four processes::

    world.run(lambda: tree_all_reduce(torch.ones(8)), ranks=4).ledger()

Both are called by all ranks of the default group, and every buffer is on the CPU. N is the number of ranks.
"""

from __future__ import annotations

import time

import torch
import torch.distributed as dist

from rankzero import checks


def tree_all_reduce(x: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks, on every rank: a binomial reduce to rank 0, then a binomial broadcast back.

    The parent of rank r > 0 is r without its lowest set bit. A rank adds its children's sums to its own, sends the
    result to its parent, and forwards what the parent sends back. Only messages are used, 2(N-1) in all, each of the
    whole tensor; rank 0 receives and sends one for each of the tree's levels. All ranks end with the same bits.

    Args:
        x: any shape, the same shape and type on every rank; unchanged afterwards. Without elements nothing is sent.

    Returns:
        The sum, of the shape of ``x``, a new tensor with one rank, too.

    Source: Thakur, Rabenseifner and Gropp (2005), doi:10.1177/1094342005051521.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    total = x.clone(memory_format=torch.contiguous_format)
    if not x.numel():
        return total
    bit = 1
    while bit < ranks and not rank & bit:  # a child for each bit below the lowest one that is set
        if rank + bit < ranks:
            arrived = torch.empty_like(total)
            dist.recv(arrived, rank + bit)
            total += arrived
        bit *= 2
    if rank:
        dist.send(total, rank - bit)
        dist.recv(total, rank - bit)
    while bit > 1:
        bit //= 2
        if rank + bit < ranks:
            dist.send(total, rank + bit)
    return total


def debug_barrier(x: torch.Tensor, calls: int) -> float:
    """Mean time of one all-reduce of ``x``, in seconds: the ranks meet, then one clock runs over all ``calls`` of them.

    Args:
        x: any shape, the same shape and type on every rank; unchanged afterwards.
        calls: how many all-reduces are timed; at least 1.
    """
    checks.count(calls=calls)
    buffer = x.clone()
    dist.barrier()
    start = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(buffer)
    return (time.perf_counter() - start) / calls

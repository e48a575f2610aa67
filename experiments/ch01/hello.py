"""The complete first distributed program: every rank says who it is, hears from all the others, and sums the numbers.

    for greeting in world.run(hello, ranks=4).values:
        print(greeting)

All ranks of the default group call it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class Greeting:
    """What one rank knows after the first program.

    Attributes:
        rank: its own number.
        world_size: how many ranks there are.
        process: the id of its process on this machine.
        device: where its tensors are: ``cpu``, or the GPU with the number of its local rank.
        pairs: the pair that each rank contributed, in rank order.
        total: the sum of all rank numbers.
    """

    rank: int
    world_size: int
    process: int
    device: str
    pairs: list[list[int]]
    total: int


def hello() -> Greeting:
    """Gather the pair ``[10 r, 10 r + 1]`` of every rank r on every rank, and sum the ranks' numbers.

    All ranks are assumed to be on one node, so the local rank is the rank.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    device = f"cuda:{rank}" if dist.get_backend() == "nccl" else "cpu"
    pair = torch.tensor([10 * rank, 10 * rank + 1], device=device)
    pairs = [torch.empty_like(pair) for _ in range(ranks)]
    dist.all_gather(pairs, pair)
    total = torch.tensor(rank, device=device)
    dist.all_reduce(total)
    print(f"hello from rank {rank} of {ranks}")
    return Greeting(rank, ranks, os.getpid(), device, [one.tolist() for one in pairs], int(total))

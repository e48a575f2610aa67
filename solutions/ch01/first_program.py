"""The first program on real ranks: every rank contributes a number and receives all of them. On four processes::

    world.run(lambda: roll_call(10.0 * dist.get_rank()), ranks=4).values

Every function is called by all ranks of the default group.
"""

from __future__ import annotations

import torch
import torch.distributed as dist


def roll_call(value: float) -> list[float]:
    """Every rank's value, in rank order, on every rank: one all-gather of one float64.

    Args:
        value: this rank's number; every bit of it counts.

    Returns:
        One float for each rank: entry r is the value of rank r.
    """
    mine = torch.tensor([value], dtype=torch.float64)
    heard = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(heard, mine)
    return [float(tensor) for tensor in heard]


def debug_gather(value: float) -> list[float]:
    """Every rank's value, in rank order, on every rank: one all-gather of one float32.

    Args:
        value: this rank's number.
    """
    mine = torch.tensor([value])
    heard = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(heard, mine)
    return [float(tensor) for tensor in heard]

# Generated from solutions/ch01/first_program.py by make stubs. Write the bodies; names and signatures stay.
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
    raise NotImplementedError("01-roll-call: not written yet")


def debug_gather(value: float) -> list[float]:
    """Every rank's value, in rank order, on every rank: one all-gather of one float32.

    Args:
        value: this rank's number.
    """
    heard = [torch.zeros(1)] * dist.get_world_size()
    dist.all_gather(heard, torch.tensor([value]))
    return [float(tensor) for tensor in heard]

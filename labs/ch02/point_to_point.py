# Generated from solutions/ch02/point_to_point.py by make stubs. Write the bodies; names and signatures stay.
"""Messages between ranks: a relay, a receive beside other work, a ring, a relay in chunks. Run one on four processes::

    world.run(lambda: ring_shift(torch.tensor([dist.get_rank()])), ranks=4).values

Every function is called by all ranks of the default group, and every buffer is on the CPU. N is the number of ranks. No
gradient flows through a message: what is returned has no history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist

from rankzero import checks


def relay(value: float, increment: float) -> float:
    """Pass a number down the chain of ranks; every rank that receives it adds ``increment``, keeps it and passes it on.

    Rank 0 starts and the last rank only receives: N - 1 messages of one float64.

    Args:
        value: what rank 0 starts with; on the other ranks it is not used.
        increment: what this rank adds to the number it receives; rank 0 adds nothing.

    Returns:
        What this rank holds: ``value + rank * increment`` when all increments are equal.
    """
    raise NotImplementedError("02-relay: not written yet")


def receive_while(work: Callable[[], Any], buffer: torch.Tensor, src: int) -> Any:
    """Receive a tensor while this rank computes something.

    The receive is posted before the work begins, and waited for when the work is done: neither waits for the other.

    Args:
        work: a function without arguments; it is called once.
        buffer: a contiguous CPU tensor of the sender's shape and type, for the message.
        src: the rank that sends.

    Returns:
        What ``work`` returned. By then the buffer is filled.
    """
    raise NotImplementedError("02-receive-while: not written yet")


def ring_shift(x: torch.Tensor, distance: int = 1) -> torch.Tensor:
    """The tensor of the rank ``distance`` places to the left on the ring of all ranks.

    Every rank sends one message and receives one, whatever the distance. A multiple of N brings a rank its own tensor,
    which is copied without a message; so is an empty one.

    Args:
        x: any shape, the same shape and type on every rank; unchanged afterwards. It need not be contiguous.
        distance: places to the right that every tensor moves, the same on every rank; negative moves to the left.

    Returns:
        The tensor of rank ``(rank - distance) mod N``, a new one. It is detached: autograd does not follow it, even
        if it follows ``x``.
    """
    raise NotImplementedError("02-ring-shift: not written yet")


def chunked_relay(x: torch.Tensor, chunks: int) -> torch.Tensor:
    """Bring rank 0's tensor to every rank along the chain 0, 1, ..., N - 1, in chunks.

    A middle rank passes chunk c on while chunk c + 1 is on its way to it: it posts that receive before it waits for the
    send. The chunks are those of ``x.tensor_split(chunks)``; empty ones are not sent.

    Args:
        x: 1-D; rank 0's tensor travels, on the other ranks ``x`` gives length and type only. Unchanged afterwards.
        chunks: parts of the tensor, the same number on every rank; at least 1. There may be more than elements.

    Returns:
        Rank 0's tensor, a new one on every rank.
    """
    checks.require(x.dim() == 1, "be 1-D", x=tuple(x.shape))
    checks.count(chunks=chunks)
    raise NotImplementedError("02-chunked-relay: not written yet")


def debug_swap(x: torch.Tensor) -> torch.Tensor:
    """The tensor of this rank's partner: ranks 0 and 1 swap, ranks 2 and 3 swap, and so on. N is even.

    One blocking send and one blocking receive on every rank.

    Args:
        x: contiguous, the same shape and type on every rank; unchanged afterwards.

    Returns:
        The partner's tensor, a new one.
    """
    rank = dist.get_rank()
    partner = rank + 1 if rank % 2 == 0 else rank - 1
    arrived = torch.empty_like(x)
    dist.send(x, partner)
    dist.recv(arrived, partner)
    return arrived


def debug_early_read(numbers: list[float]) -> list[float]:
    """Rank 0's numbers, on every rank. The others post their receive, then tell rank 0 that they are ready.

    Rank 0 sends to a rank after it has heard from it. All of this goes by messages, without a barrier.

    Args:
        numbers: equally many on every rank; rank 0's are sent, the others' tell how many to expect.

    Returns:
        Rank 0's numbers, as float64.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if rank == 0:
        for peer in range(1, ranks):
            dist.recv(ready, peer)
            dist.send(mine, peer)
        return mine.tolist()
    buffer = torch.zeros_like(mine)
    dist.irecv(buffer, 0)
    received = buffer.tolist()
    dist.send(ready, 0)
    return received

# Generated from solutions/ch03/distributed_stats.py by make stubs. Write the bodies; names and signatures stay.
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
    raise NotImplementedError("03-distributed-mean: not written yet")


def distributed_argmax(x: torch.Tensor) -> tuple[float, int, int]:
    """The largest element of all ranks, the rank that has it, and its index there; the same on every rank.

    Of equal elements, the one on the lowest rank wins, then the one with the lowest index. Each rank sends only its
    candidate.

    Args:
        x: this rank's elements, 1-D, without nan, each exact as a float64; may be empty on some ranks, but not on all.
            Unchanged afterwards.
    """
    raise NotImplementedError("03-distributed-argmax: not written yet")


def distributed_softmax(x: torch.Tensor) -> torch.Tensor:
    """This rank's part of the softmax over the elements of all ranks.

    Two collectives of one number each: the largest element, then the sum of the exponentials.

    Args:
        x: this rank's logits, 1-D float; may be empty. Unchanged afterwards.

    Returns:
        As many elements as ``x``; over all ranks they sum to 1.

    Source: Milakov and Gimelshein (2018), arXiv:1805.02867, algorithm 2 (safe softmax).
    """
    raise NotImplementedError("03-distributed-softmax: not written yet")

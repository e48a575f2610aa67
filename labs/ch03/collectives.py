# Generated from solutions/ch03/collectives.py by make stubs. Write the bodies; names and signatures stay.
"""Collectives built from messages, on real ranks. Run one on four processes::

    world.run(lambda: ring_all_reduce(torch.ones(8)), ranks=4).ledger()

Every function is called by all ranks of the default group, and every buffer is on the CPU. N is the number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist

from rankzero import checks


def ring_reduce_scatter(x: torch.Tensor) -> torch.Tensor:
    """Rank r's chunk of the sum over all ranks, by a ring of ``N - 1`` steps.

    In each step every rank sends one partial sum to the right and adds its own numbers to the one that arrives from the
    left. Only messages are used. Rank r sends every chunk but chunk r once; empty chunks are not sent.

    Args:
        x: 1-D, of the same length and type on every rank; unchanged afterwards. ``x.tensor_split(N)`` gives the chunks,
            so their sizes differ by at most one.

    Returns:
        Chunk r of the sum, a new tensor even with one rank.

    Source: Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002.
    """
    checks.require(x.dim() == 1, "be 1-D", x=tuple(x.shape))
    raise NotImplementedError("03-ring-reduce-scatter: not written yet")


def ring_all_gather(x: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """The concatenated parts of all ranks, by a ring of ``N - 1`` steps.

    In each step every rank passes what arrived last on to the right. Only messages are used. A rank sends every part
    but its right neighbor's; empty parts are not sent.

    Args:
        x: this rank's part, ``sizes[rank]`` elements; unchanged afterwards.
        sizes: elements of every rank's part, one entry per rank, the same list on every rank; not negative.

    Returns:
        All parts in rank order, 1-D of ``sum(sizes)`` elements, a new tensor.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    checks.count(0, sizes=sizes)
    checks.require(len(sizes) == ranks, f"have {ranks} entries", sizes=sizes)
    checks.require(x.numel() == sizes[rank], f"have {sizes[rank]} elements", x=x.numel())
    raise NotImplementedError("03-ring-all-gather: not written yet")


def ring_all_reduce(x: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks, on every rank: a ring reduce-scatter, then a ring all-gather.

    At most ``2 * (N - 1)`` messages per rank, each of one chunk. All ranks end with the same bits.

    Args:
        x: any shape, the same shape and type on every rank; unchanged afterwards.

    Returns:
        The sum, of the shape of ``x``, a new tensor.

    Source: Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002.
    """
    raise NotImplementedError("03-ring-all-reduce: not written yet")


def all_to_all(blocks: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Send ``blocks[c]`` to rank c, and return the blocks that all ranks have for this one, in rank order.

    Receivers do not know the sizes, so the ranks exchange counts first (one int64 per pair), then the data.
    Only messages are used; a rank's own block does not travel, and neither do empty blocks.

    Args:
        blocks: one contiguous 1-D tensor per rank, of one type and any lengths; unchanged afterwards.

    Returns:
        One 1-D tensor per rank, new tensors.
    """
    ranks = dist.get_world_size()
    checks.require(len(blocks) == ranks, f"have {ranks} entries", blocks=len(blocks))
    raise NotImplementedError("03-all-to-all: not written yet")


def debug_dtype(number: int) -> list[int]:
    """Every rank's number, in rank order, on every rank: one all-gather.

    Args:
        number: this rank's number; it fits in 64 bits, and every bit counts.
    """
    gathered = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, torch.tensor([number]))
    return [int(tensor) for tensor in gathered]


def debug_grad(parameters: list[torch.Tensor], gradients: list[torch.Tensor | None]) -> list[torch.Tensor]:
    """The sum over all ranks of every parameter's gradient.

    Args:
        parameters: the model's parameters, the same shapes and types on every rank.
        gradients: one per parameter; None where this rank's batch did not use the layer.
    """
    summed = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        total = torch.zeros_like(parameter)
        if gradient is not None:
            total = gradient.clone()
            dist.all_reduce(total)
        summed.append(total)
    return summed

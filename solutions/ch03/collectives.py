"""Collectives built from messages, on real ranks. Run one on four processes::

    world.run(lambda: ring_all_reduce(torch.ones(8)), ranks=4).ledger()

Every function is called by all ranks of the default group, and every buffer is on the CPU. N is the number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.tensor_split(ranks)]
    for step in range(ranks - 1):
        partial = chunks[(rank - step - 1) % ranks]  # chunk r-1 first: then chunk r is the last to arrive
        mine = chunks[(rank - step - 2) % ranks]
        arrived = torch.empty_like(mine)
        _pass_right(partial, arrived)
        mine += arrived
    return chunks[rank]


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
    parts = [x.new_empty(size) for size in sizes]
    parts[rank].copy_(x.flatten())
    for step in range(ranks - 1):
        _pass_right(parts[(rank - step) % ranks], parts[(rank - step - 1) % ranks])
    return torch.cat(parts)


def ring_all_reduce(x: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks, on every rank: a ring reduce-scatter, then a ring all-gather.

    At most ``2 * (N - 1)`` messages per rank, each of one chunk. All ranks end with the same bits.

    Args:
        x: any shape, the same shape and type on every rank; unchanged afterwards.

    Returns:
        The sum, of the shape of ``x``, a new tensor.

    Source: Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002.
    """
    flat = x.flatten()
    sizes = [len(chunk) for chunk in flat.tensor_split(dist.get_world_size())]
    return ring_all_gather(ring_reduce_scatter(flat), sizes).reshape(x.shape)


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
    rank = dist.get_rank()
    counts = [torch.tensor([len(block)]) for block in blocks]
    arriving_counts = [count.clone() for count in counts]
    _swap(counts, arriving_counts)
    arriving = [blocks[rank].new_empty(int(count)) for count in arriving_counts]
    arriving[rank].copy_(blocks[rank])
    _swap(blocks, arriving)
    return arriving


def debug_dtype(number: int) -> list[int]:
    """Every rank's number, in rank order, on every rank: one all-gather.

    Args:
        number: this rank's number; it fits in 64 bits, and every bit counts.
    """
    mine = torch.tensor([number])  # int64, as any tensor made from a Python integer
    gathered = [torch.zeros_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, mine)
    return [int(tensor) for tensor in gathered]


def debug_grad(parameters: list[torch.Tensor], gradients: list[torch.Tensor | None]) -> list[torch.Tensor]:
    """The sum over all ranks of every parameter's gradient.

    Args:
        parameters: the model's parameters, the same shapes and types on every rank.
        gradients: one per parameter; None where this rank's batch did not use the layer.
    """
    summed = []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        total = torch.zeros_like(parameter) if gradient is None else gradient.clone()
        dist.all_reduce(total)
        summed.append(total)
    return summed


def _pass_right(outgoing: torch.Tensor, arriving: torch.Tensor) -> None:
    """Send to the right neighbour while receiving from the left one; return when both are done."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    requests: list[Any] = []
    if outgoing.numel():
        requests.append(dist.isend(outgoing, (rank + 1) % ranks))
    if arriving.numel():
        requests.append(dist.irecv(arriving, (rank - 1) % ranks))
    for request in requests:
        request.wait()


def _swap(outgoing: Sequence[torch.Tensor], arriving: Sequence[torch.Tensor]) -> None:
    """Send ``outgoing[c]`` to every other rank c and fill ``arriving[c]`` from it.

    Each rank starts with its right neighbour, so that no rank is everyone's first destination.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    requests: list[Any] = []
    for step in range(1, ranks):
        right, left = (rank + step) % ranks, (rank - step) % ranks
        if outgoing[right].numel():
            requests.append(dist.isend(outgoing[right], right))
        if arriving[left].numel():
            requests.append(dist.irecv(arriving[left], left))
    for request in requests:
        request.wait()

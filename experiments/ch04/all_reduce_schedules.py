"""All-reduce algorithms as programs for every rank, message by message, and their time on a simulated network.

A schedule is a list of transfers; each rank sends and receives its own in the order of the list. The time comes only
from the simulated network (:mod:`rankzero.sim.network`), not from a formula of the cost models. Standard library only.

>>> from rankzero.facts.units import GB, ms, us
>>> run = simulate_all_reduce("double_tree", 4 * GB, 8, Network(50 * GB, 5 * us), chunks=218)
>>> complete(run), round(run.seconds / ms, 1)
(True, 164.4)
"""

from __future__ import annotations

from rankzero import checks
from rankzero.sim.network import Network, Run, Transfer, by_rank, simulate_programs
from solutions.ch04.schedules import (
    and_back,
    complete,
    cut,
    double_tree_schedule,
    ring_all_gather,
    ring_reduce_scatter,
)

__all__ = ["PIPELINED", "SCHEDULES", "complete", "double_tree_schedule", "simulate_all_reduce", "simulate_relay"]

#: The algorithms that :func:`simulate_all_reduce` can run.
SCHEDULES = ("ring", "tree", "double_tree", "halving_doubling", "hierarchical", "chain")

#: The algorithms that can cut the message into any number of chunks.
PIPELINED = ("double_tree", "chain")


def simulate_all_reduce(algorithm: str, message_bytes: float, ranks: int, network: Network, chunks: int = 1) -> Run:
    """One all-reduce on a simulated network, message by message.

    ``ring``, ``halving_doubling`` and ``hierarchical`` cut the tensor into as many chunks as there are ranks, ``tree``
    does not cut it. Chunks are whole numbers of bytes and differ in size by at most one byte.

    Args:
        algorithm: one of :data:`SCHEDULES`.
        message_bytes: the tensor on each rank, a whole number of bytes; not negative.
        ranks: how many, at least 1; a power of two for ``halving_doubling``.
        network: what a message costs; ``hierarchical`` uses the network's nodes, which must all be full.
        chunks: how many parts ``double_tree`` and ``chain`` cut the tensor into, at least 1; 1 for the others.

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.
    """
    checks.one_of(SCHEDULES, algorithm=algorithm)
    checks.count(ranks=ranks, chunks=chunks)
    checks.require(algorithm in PIPELINED or chunks == 1, f"be 1 for {algorithm}", chunks=chunks)
    match algorithm:
        case "ring":
            transfers, parts = ring_schedule(ranks), ranks
        case "tree":
            transfers, parts = tree_schedule(ranks), 1
        case "double_tree":
            transfers, parts = double_tree_schedule(ranks, chunks), chunks
        case "halving_doubling":
            transfers, parts = halving_doubling_schedule(ranks), ranks
        case "hierarchical":
            size = network.ranks_per_node or ranks
            checks.require(ranks % size == 0, f"be a multiple of ranks_per_node = {size}", ranks=ranks)
            transfers, parts = hierarchical_schedule(ranks // size, size), ranks
        case _:
            transfers, parts = chain_schedule(ranks, chunks), chunks
    return simulate_programs(by_rank(transfers, ranks), cut(message_bytes, parts), network)


def simulate_relay(message_bytes: float, ranks: int, network: Network, chunks: int = 1) -> Run:
    """A message that starts on rank 0 and is passed on from rank to rank, chunk by chunk.

    Args:
        message_bytes: a whole number of bytes; not negative.
        ranks: in the chain, at least 1.
        network: what a message costs.
        chunks: parts of the message, at least 1.

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.
    """
    checks.count(ranks=ranks, chunks=chunks)
    transfers = [Transfer(rank, rank + 1, (chunk,), "copy") for chunk in range(chunks) for rank in range(ranks - 1)]
    holds = [[{0} if rank == 0 else set()] * chunks for rank in range(ranks)]
    return simulate_programs(by_rank(transfers, ranks), cut(message_bytes, chunks), network, holds)


def ring_schedule(ranks: int) -> list[Transfer]:
    """A reduce-scatter and an all-gather around a ring; in between, chunk r is complete on rank r."""
    everyone, chunks = range(ranks), [(chunk,) for chunk in range(ranks)]
    return ring_reduce_scatter(everyone, chunks) + ring_all_gather(everyone, chunks)


def tree_schedule(ranks: int) -> list[Transfer]:
    """A binomial reduce to rank 0 and a broadcast back, the whole tensor in every message."""
    bits = [1 << level for level in range((ranks - 1).bit_length())]
    return and_back([Transfer(rank, rank - bit, (0,), "reduce") for bit in bits for rank in range(bit, ranks, 2 * bit)])


def chain_schedule(ranks: int, chunks: int) -> list[Transfer]:
    """A pipelined reduce down a chain to rank 0, and a broadcast back."""
    return and_back(
        [Transfer(rank, rank - 1, (chunk,), "reduce") for chunk in range(chunks) for rank in range(ranks - 1, 0, -1)]
    )


def halving_doubling_schedule(ranks: int) -> list[Transfer]:
    """Partners exchange halves, then halves of halves, until each rank holds one chunk; then the same in reverse.

    Raises:
        ValueError: ``ranks`` is not a power of two.
    """
    levels = (ranks - 1).bit_length()
    checks.require(ranks == 1 << levels, "be a power of two for halving_doubling", ranks=ranks)
    return and_back(
        [
            Transfer(rank, rank ^ bit, tuple(c for c in range(ranks) if (c ^ rank) // bit == 1), "reduce")
            for bit in (1 << level for level in reversed(range(levels)))
            for rank in range(ranks)
        ]
    )


def hierarchical_schedule(nodes: int, ranks_per_node: int) -> list[Transfer]:
    """Reduce-scatter inside each node, a ring across the nodes on every rail, all-gather inside.

    A rail is made of the ranks at the same place in every node. Rank ``node * ranks_per_node + place`` takes the chunks
    ``place * nodes`` to ``place * nodes + nodes - 1`` across.
    """
    inside = [range(node * ranks_per_node, (node + 1) * ranks_per_node) for node in range(nodes)]
    rails = [range(index, nodes * ranks_per_node, ranks_per_node) for index in range(ranks_per_node)]
    shares = [tuple(range(index * nodes, (index + 1) * nodes)) for index in range(ranks_per_node)]
    transfers = [transfer for node in inside for transfer in ring_reduce_scatter(node, shares)]
    for rail, share in zip(rails, shares, strict=True):
        pieces = [(chunk,) for chunk in share]
        transfers += ring_reduce_scatter(rail, pieces) + ring_all_gather(rail, pieces)
    return transfers + [transfer for node in inside for transfer in ring_all_gather(node, shares)]

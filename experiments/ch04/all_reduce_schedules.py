"""All-reduce algorithms as programs for every rank, message by message, and their time on a simulated network.

A schedule is a list of transfers; each rank sends and receives its own in the order of the list. The time comes only
from the simulated network (:mod:`rankzero.sim.network`), not from a formula of the cost models. Standard library only.

>>> from rankzero.facts.units import GB, ms, us
>>> run = simulate_all_reduce("double_tree", 4 * GB, 8, Network(50 * GB, 5 * us), chunks=218)
>>> complete(run), round(run.seconds / ms, 1)
(True, 164.4)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rankzero.sim.network import Network, Run, Transfer, by_rank, simulate_programs
from solutions.ch04.all_reduce_algorithms import double_binary_tree

#: The algorithms that :func:`simulate_all_reduce` can run.
SCHEDULES = ("ring", "tree", "double_tree", "halving_doubling", "hierarchical", "chain")

#: The algorithms that can cut the message into any number of chunks.
PIPELINED = ("double_tree", "chain")

#: An edge of the two trees: which tree, and the child's rank.
Edge = tuple[int, int]


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
    _require(algorithm in SCHEDULES, f"algorithm must be one of {', '.join(SCHEDULES)}", algorithm)
    _check_count("ranks", ranks)
    _check_count("chunks", chunks)
    _require(algorithm in PIPELINED or chunks == 1, f"chunks must be 1 for {algorithm}", chunks)
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
            _require(ranks % size == 0, f"ranks must be a multiple of ranks_per_node = {size}", ranks)
            transfers, parts = hierarchical_schedule(ranks // size, size), ranks
        case _:
            transfers, parts = chain_schedule(ranks, chunks), chunks
    return simulate_programs(by_rank(transfers, ranks), _cut(message_bytes, parts), network)


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
    _check_count("ranks", ranks)
    _check_count("chunks", chunks)
    transfers = [Transfer(rank, rank + 1, (chunk,), "copy") for chunk in range(chunks) for rank in range(ranks - 1)]
    holds = [[{0} if rank == 0 else set()] * chunks for rank in range(ranks)]
    return simulate_programs(by_rank(transfers, ranks), _cut(message_bytes, chunks), network, holds)


def complete(run: Run) -> bool:
    """Whether every rank ends with the sum: each chunk holds every rank's contribution exactly once."""
    everyone = frozenset(range(run.ranks))
    return all(chunk == everyone for chunks in run.holds for chunk in chunks)


def ring_schedule(ranks: int) -> list[Transfer]:
    """A reduce-scatter and an all-gather around a ring; in between, chunk r is complete on rank r."""
    everyone, chunks = range(ranks), [(chunk,) for chunk in range(ranks)]
    return _ring_reduce_scatter(everyone, chunks) + _ring_all_gather(everyone, chunks)


def tree_schedule(ranks: int) -> list[Transfer]:
    """A binomial reduce to rank 0 and a broadcast back, the whole tensor in every message."""
    bits = [1 << level for level in range((ranks - 1).bit_length())]
    return _and_back(
        [Transfer(rank, rank - bit, (0,), "reduce") for bit in bits for rank in range(bit, ranks, 2 * bit)]
    )


def chain_schedule(ranks: int, chunks: int) -> list[Transfer]:
    """A pipelined reduce down a chain to rank 0, and a broadcast back."""
    return _and_back(
        [Transfer(rank, rank - 1, (chunk,), "reduce") for chunk in range(chunks) for rank in range(ranks - 1, 0, -1)]
    )


def halving_doubling_schedule(ranks: int) -> list[Transfer]:
    """Partners exchange halves, then halves of halves, until each rank holds one chunk; then the same in reverse.

    Raises:
        ValueError: ``ranks`` is not a power of two.
    """
    levels = (ranks - 1).bit_length()
    _require(ranks == 1 << levels, "ranks must be a power of two for halving_doubling", ranks)
    return _and_back(
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
    rails = [range(place, nodes * ranks_per_node, ranks_per_node) for place in range(ranks_per_node)]
    shares = [tuple(range(place * nodes, (place + 1) * nodes)) for place in range(ranks_per_node)]
    transfers = [transfer for node in inside for transfer in _ring_reduce_scatter(node, shares)]
    for rail, share in zip(rails, shares, strict=True):
        pieces = [(chunk,) for chunk in share]
        transfers += _ring_reduce_scatter(rail, pieces) + _ring_all_gather(rail, pieces)
    return transfers + [transfer for node in inside for transfer in _ring_all_gather(node, shares)]


def double_tree_schedule(ranks: int, chunks: int) -> list[Transfer]:
    """Two pipelined binary trees: even chunks go over the first, odd chunks over the second, and then all of them back.

    No rank sends twice or receives twice in one step. Each edge has one of two colors, such that the two edges on which
    a rank sends differ in color, and so do the two on which it receives; each color uses every other step. The
    reduction therefore takes at most ``2 * ceil(chunks / 2) + 2 * (d - 1)`` steps in trees of depth d, and so does the
    way back.

    Source: Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001, section 3.
    """
    edges = {
        (tree, child): parent
        for tree, parents in enumerate(double_binary_tree(ranks))
        for child, parent in enumerate(parents)
        if parent is not None
    }
    timed = [
        (step + 2 * (chunk // 2), chunk, edge)
        for edge, step in _first_steps(edges).items()
        for chunk in range(edge[0], chunks, 2)
    ]
    return _and_back([Transfer(edge[1], edges[edge], (chunk,), "reduce") for _, chunk, edge in sorted(timed)])


def _first_steps(edges: dict[Edge, int]) -> dict[Edge, int]:
    """When the first chunk may go up each edge: a step of the edge's color, after the steps of the edges below it."""
    colours, steps = _colours(edges), dict.fromkeys(edges, -1)
    for tree, child in sorted(edges, key=lambda edge: -_depth(edges, edge)):
        edge, parent = (tree, child), edges[tree, child]
        earliest = steps[edge] + 1  # after everything from the edges below has arrived
        steps[edge] = earliest + (earliest - colours[edge]) % 2
        if (tree, parent) in edges:
            steps[tree, parent] = max(steps[tree, parent], steps[edge])
    return steps


def _depth(edges: dict[Edge, int], edge: Edge) -> int:
    return 1 + _depth(edges, (edge[0], edges[edge])) if edge in edges else 0


def _colours(edges: dict[Edge, int]) -> dict[Edge, int]:
    """The color of each edge, 0 or 1: two edges on which the same rank sends, or the same rank receives, differ.

    A rank sends on one edge of each tree, and receives on at most two in all. Edges that share an end therefore form
    paths and even cycles, and two colors suffice.
    """
    ports: dict[tuple[str, int], list[Edge]] = defaultdict(list)
    for edge, parent in edges.items():
        ports["out", edge[1]].append(edge)
        ports["in", parent].append(edge)
    colours: dict[Edge, int] = {}
    for start in edges:
        waiting = [(start, 0)]
        while waiting:
            edge, colour = waiting.pop()
            if edge not in colours:
                colours[edge] = colour
                waiting += [(other, 1 - colour) for other in ports["out", edge[1]] + ports["in", edges[edge]]]
    return colours


def _ring_reduce_scatter(members: Sequence[int], blocks: Sequence[tuple[int, ...]]) -> list[Transfer]:
    """In each step everyone passes a partial sum to the right; ``blocks[i]`` ends up complete on ``members[i]``."""
    size = len(members)
    return [
        Transfer(members[i], members[(i + 1) % size], blocks[(i - step - 1) % size], "reduce")
        for step in range(size - 1)
        for i in range(size)
    ]


def _ring_all_gather(members: Sequence[int], blocks: Sequence[tuple[int, ...]]) -> list[Transfer]:
    """Everyone passes what arrived last on to the right; ``members[i]`` starts with ``blocks[i]``."""
    size = len(members)
    return [
        Transfer(members[i], members[(i + 1) % size], blocks[(i - step) % size], "copy")
        for step in range(size - 1)
        for i in range(size)
    ]


def _and_back(reductions: list[Transfer]) -> list[Transfer]:
    """The reductions, then the same messages in reverse as copies, the last one first."""
    return reductions + [Transfer(t.target, t.source, t.chunks, "copy") for t in reversed(reductions)]


def _cut(message_bytes: float, parts: int) -> list[int]:
    """Sizes of ``parts`` chunks in whole bytes, the larger ones first."""
    number = isinstance(message_bytes, (int, float)) and not isinstance(message_bytes, bool)
    whole = number and message_bytes >= 0 and float(message_bytes).is_integer()
    _require(whole, "message_bytes must be a whole number >= 0", message_bytes)
    least, larger = divmod(int(message_bytes), parts)
    return [least + (part < larger) for part in range(parts)]


def _check_count(name: str, value: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    _require(whole and value >= 1, f"{name} must be an integer >= 1", value)


def _require(rule: bool, sentence: str, value: object) -> None:
    """Raise a ValueError that states the rule and the value, unless the rule holds."""
    if not rule:
        raise ValueError(f"{sentence}, got {value!r}")

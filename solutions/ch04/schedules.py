"""Programs of an all-reduce for every rank, message by message, and an all-reduce in two levels of one's own choice.

A schedule is a list of transfers; each rank sends and receives its own in the order of the list. In the two-level one,
groups of consecutive ranks first reduce-scatter among themselves. Then each rank all-reduces its share with the ranks
at the same place in the other groups, along a ring or along two trees. Then every group gathers what its ranks hold.
Standard library only.

>>> from rankzero.facts.units import GB, KB, us
>>> cluster = Network(450 * GB, 1 * us, ranks_per_node=4, inter_bandwidth=50 * GB, inter_latency=5 * us)
>>> run = simulate_two_levels(64 * KB, 8, cluster, group=4, trees=0)
>>> complete(run), round(run.seconds / us, 1)
(True, 16.5)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from rankzero import checks
from rankzero.sim.network import Network, Run, Transfer, by_rank, simulate_programs

from .all_reduce_algorithms import double_binary_tree

#: An edge of the two trees: which tree, and the child's rank.
Edge = tuple[int, int]


def two_level_schedule(ranks: int, group: int, trees: int, chunks: int = 1) -> tuple[list[Transfer], int]:
    """The transfers, and into how many chunks the tensor is cut.

    Args:
        ranks: how many; a multiple of ``group``.
        group: ranks in a group; 1 makes a flat schedule of what goes across.
        trees: 0 for a ring across the groups, 2 for two trees.
        chunks: into how many a share is cut for the trees; a ring cuts it into as many as there are groups.

    Raises:
        ValueError: ``group`` does not divide ``ranks``, or ``trees`` is neither 0 nor 2.
    """
    checks.require(group >= 1 and ranks % group == 0, f"divide {ranks} ranks", group=group)
    checks.one_of((0, 2), trees=trees)
    groups = ranks // group
    pieces = chunks if trees else groups
    members = [range(first, first + group) for first in range(0, ranks, group)]
    shares = [tuple(range(place * pieces, (place + 1) * pieces)) for place in range(group)]
    across = [t for place in range(group) for t in _across(range(place, ranks, group), shares[place], trees)]
    adding = [t for inside in members for t in ring_reduce_scatter(inside, shares)]
    gathering = [t for inside in members for t in ring_all_gather(inside, shares)]
    return [*adding, *across, *gathering], group * pieces


def simulate_two_levels(
    message_bytes: float, ranks: int, network: Network, group: int, trees: int, chunks: int = 1
) -> Run:
    """One all-reduce by :func:`two_level_schedule` on a simulated network.

    Args:
        message_bytes: the tensor on each rank, a whole number of bytes; not negative.
        ranks: how many; a multiple of ``group``.
        network: what a message costs.
        group: ranks in a group.
        trees: 0 or 2.
        chunks: for the trees.
    """
    transfers, parts = two_level_schedule(ranks, group, trees, chunks)
    return simulate_programs(by_rank(transfers, ranks), cut(message_bytes, parts), network)


def _across(rail: Sequence[int], share: Sequence[int], trees: int) -> list[Transfer]:
    """The all-reduce of one share among the ranks that hold it."""
    if not trees:
        pieces = [(chunk,) for chunk in share]
        return ring_reduce_scatter(rail, pieces) + ring_all_gather(rail, pieces)
    return [
        replace(t, source=rail[t.source], target=rail[t.target], chunks=tuple(share[chunk] for chunk in t.chunks))
        for t in double_tree_schedule(len(rail), len(share))
    ]


def complete(run: Run) -> bool:
    """Whether every rank ends with the sum: each chunk holds every rank's contribution exactly once."""
    everyone = frozenset(range(run.ranks))
    return all(chunk == everyone for chunks in run.holds for chunk in chunks)


def ring_reduce_scatter(members: Sequence[int], blocks: Sequence[tuple[int, ...]]) -> list[Transfer]:
    """In each step everyone passes a partial sum to the right; ``blocks[i]`` ends up complete on ``members[i]``."""
    size = len(members)
    return [
        Transfer(members[i], members[(i + 1) % size], blocks[(i - step - 1) % size], "reduce")
        for step in range(size - 1)
        for i in range(size)
    ]


def ring_all_gather(members: Sequence[int], blocks: Sequence[tuple[int, ...]]) -> list[Transfer]:
    """Everyone passes what arrived last on to the right; ``members[i]`` starts with ``blocks[i]``."""
    size = len(members)
    return [
        Transfer(members[i], members[(i + 1) % size], blocks[(i - step) % size], "copy")
        for step in range(size - 1)
        for i in range(size)
    ]


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
    return and_back([Transfer(edge[1], edges[edge], (chunk,), "reduce") for _, chunk, edge in sorted(timed)])


def and_back(reductions: list[Transfer]) -> list[Transfer]:
    """The reductions, then the same messages in reverse as copies, the last one first."""
    return reductions + [Transfer(t.target, t.source, t.chunks, "copy") for t in reversed(reductions)]


def cut(message_bytes: float, parts: int) -> list[int]:
    """Sizes of ``parts`` chunks in whole bytes, the larger ones first."""
    checks.amount(message_bytes=message_bytes)
    checks.require(float(message_bytes).is_integer(), "be a whole number", message_bytes=message_bytes)
    least, larger = divmod(int(message_bytes), parts)
    return [least + 1] * larger + [least] * (parts - larger)


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

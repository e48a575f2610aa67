"""What an all-reduce costs by algorithm: ring, trees, halving-doubling, two levels. Standard library only.

The model has one port per rank, which sends and receives at once; a message of m bytes takes ``latency + m/bandwidth``.

>>> from rankzero.facts.units import GB, MB, ms, us
>>> round(all_reduce_time("double_tree", 4 * GB, ranks=8, bandwidth=50 * GB, latency=5 * us) / ms, 6)
160.03
>>> round(crossover_bytes(ranks=8, bandwidth=50 * GB, latency=5 * us) / MB, 6)
8.0
"""

from __future__ import annotations

from rankzero import checks

from ..ch03.collective_cost import ring_all_reduce_time

#: What :func:`all_reduce_time` knows.
ALGORITHMS = ("ring", "tree", "double_tree", "halving_doubling")


def all_reduce_time(algorithm: str, message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
    """Time of one all-reduce, in seconds.

    ``ring``: a reduce-scatter and an all-gather, each of N-1 steps of S/N. ``tree``: a binomial reduce and broadcast
    that pass the whole tensor on, level by level. ``double_tree``: two pipelined trees with half of the tensor each, in
    the limit of many chunks: the start-ups of 2 d levels, and S through a rank's port on the way up and again on the
    way down. ``halving_doubling``: reduce-scatter and all-gather in steps of S/2, S/4, ... between partners. A tree of
    N ranks has d levels, d the least integer with 2**d >= N.

    Args:
        algorithm: one of these four names.
        message_bytes: S, the tensor on each rank, bytes; not negative.
        ranks: N, at least 1 (one rank has nothing to send: 0 s); a power of two for ``halving_doubling``.
        bandwidth: of one rank's port, one direction, bytes/s; positive.
        latency: start-up cost of one message (alpha), seconds; not negative.

    Source: Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002; Thakur, Rabenseifner and Gropp (2005),
    doi:10.1177/1094342005051521; Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001.
    """
    checks.one_of(ALGORITHMS, algorithm=algorithm)
    checks.count(ranks=ranks)
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    if algorithm == "halving_doubling":
        checks.require(ranks.bit_count() == 1, "be a power of two", ranks=ranks)
    levels = (ranks - 1).bit_length()
    match algorithm:
        case "ring":
            return ring_all_reduce_time(message_bytes, ranks, bandwidth, latency)
        case "tree":
            return 2 * levels * (latency + message_bytes / bandwidth)
        case "double_tree":
            return 2 * levels * latency + (2 * message_bytes / bandwidth if ranks > 1 else 0.0)
        case _:
            return 2 * levels * latency + 2 * (ranks - 1) / ranks * message_bytes / bandwidth


def crossover_bytes(ranks: int, bandwidth: float, latency: float, algorithm: str = "double_tree") -> float:
    """Message size, in bytes, above which the ring is faster than a tree; 0.0 when it is never slower.

    Below it the tree's few start-ups win, above it the ring's few bytes.

    Args:
        ranks: N, at least 1.
        bandwidth: of one rank's port, one direction, bytes/s; positive.
        latency: start-up cost of one message (alpha), seconds; not negative.
        algorithm: the tree: ``double_tree`` or ``tree``, as in ``all_reduce_time``.
    """
    checks.count(ranks=ranks)
    checks.positive(bandwidth=bandwidth)
    checks.amount(latency=latency)
    checks.one_of(("double_tree", "tree"), algorithm=algorithm)
    if ranks == 1:
        return 0.0
    levels = (ranks - 1).bit_length()
    more_steps = ranks - 1 - levels  # of the ring, in each of the two phases; 0 for 2 and 3 ranks
    if algorithm == "double_tree":
        return ranks * more_steps * latency * bandwidth
    return more_steps * latency * bandwidth / (levels - (ranks - 1) / ranks)


def double_binary_tree(ranks: int) -> tuple[list[int | None], list[int | None]]:
    """The parent of every rank in two binary trees, None for a root: a rank with children in one is a leaf in the
    other.

    First tree: its root is rank 0; a rank r > 0 whose lowest set bit is b has the parent ``(r - b) | 2b``, or ``r - b``
    where that is not a rank. Second tree: the first with its ranks renamed, ``N-1-r`` for r when N is even,
    ``(r+1) mod N`` when N is odd. With odd N > 1 rank 0 alone has children in both, one in each.

    Args:
        ranks: N, at least 1.

    Returns:
        ``(first, second)``: ``first[r]`` is the parent of rank r in the first tree.

    Source: NVIDIA NCCL, src/graph/trees.cc, ``ncclGetDtree``; Sanders, Speck and Traeff (2009),
    doi:10.1016/j.parco.2009.09.001.
    """
    checks.count(ranks=ranks)
    first = [_parent(rank, ranks) for rank in range(ranks)]
    renamed = [ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks for rank in range(ranks)]
    second: list[int | None] = [None] * ranks
    for rank, parent in enumerate(first):
        second[renamed[rank]] = None if parent is None else renamed[parent]
    return first, second


def hierarchical_all_reduce_time(
    message_bytes: float,
    nodes: int,
    ranks_per_node: int,
    intra_bandwidth: float,
    inter_bandwidth: float,
    intra_latency: float = 0.0,
    inter_latency: float = 0.0,
) -> float:
    """Time of an all-reduce in two levels, in seconds.

    A ring reduce-scatter inside each node; then each rank all-reduces its share, S/g, in a ring with its counterparts
    in the other nodes, over its own network port; then a ring all-gather inside the node.

    Args:
        message_bytes: S, the tensor on each rank, bytes; not negative.
        nodes: n, at least 1.
        ranks_per_node: g, at least 1.
        intra_bandwidth: of one rank's link inside the node, one direction, bytes/s; positive.
        inter_bandwidth: of one rank's own network port, one direction, bytes/s; positive.
        intra_latency: start-up cost of a message inside, seconds; not negative.
        inter_latency: start-up cost of a message across nodes, seconds; not negative.
    """
    checks.count(nodes=nodes, ranks_per_node=ranks_per_node)
    checks.amount(message_bytes=message_bytes, intra_latency=intra_latency, inter_latency=inter_latency)
    checks.positive(intra_bandwidth=intra_bandwidth, inter_bandwidth=inter_bandwidth)
    share = message_bytes / ranks_per_node
    inside = ring_all_reduce_time(message_bytes, ranks_per_node, intra_bandwidth, intra_latency)
    return inside + ring_all_reduce_time(share, nodes, inter_bandwidth, inter_latency)


def _parent(rank: int, ranks: int) -> int | None:
    """The parent in the first tree: of the two nearest ranks on the next level, the upper one if it exists."""
    if rank == 0:
        return None
    bit = rank & -rank
    upper = (rank - bit) | 2 * bit
    return upper if upper < ranks else rank - bit

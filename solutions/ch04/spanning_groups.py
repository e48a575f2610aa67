"""What a group of ranks that spans nodes gets of the cluster's links: the course's one model of its network.

Inside a node every GPU has its NVLink. Between nodes every GPU has a network port of its own, so a group with g members
in each node uses g ports there: it reduces inside first, and crosses with 1/g of the tensor in each port (chapter 4).
Start-ups are left out. Standard library only.

>>> from rankzero.facts.units import GB
>>> [round(group_bandwidth(16, near, 450 * GB, 50 * GB) / GB) for near in (16, 8, 4, 1)]
[450, 293, 173, 50]
"""

from __future__ import annotations

from rankzero import checks

from .all_reduce_algorithms import hierarchical_all_reduce_time


def group_bandwidth(ranks: int, in_node: int, intra_bandwidth: float, inter_bandwidth: float) -> float:
    """The rate at which each rank of a group sends, bytes/s, in an all-reduce, a reduce-scatter or an all-gather.

    It is what a rank sends on a ring of the whole group, over the time of the all-reduce in two levels, and at most the
    bandwidth inside the node. So bytes by the formulas of chapter 3, divided by this rate, are the seconds of chapter
    4's two levels. For a reduce-scatter or an all-gather both are half.

    Args:
        ranks: N, members of the group; at least 1.
        in_node: g, members in each node; at least 1, at most ``ranks``.
        intra_bandwidth: of one rank's link inside the node, one direction, bytes/s; positive.
        inter_bandwidth: of one rank's own network port, one direction, bytes/s; positive.
    """
    checks.count(ranks=ranks)
    checks.count(1, ranks, in_node=in_node)
    checks.positive(intra_bandwidth=intra_bandwidth, inter_bandwidth=inter_bandwidth)
    if in_node == ranks:
        return intra_bandwidth
    seconds = hierarchical_all_reduce_time(1.0, -(-ranks // in_node), in_node, intra_bandwidth, inter_bandwidth)
    return min(intra_bandwidth, 2 * (ranks - 1) / ranks / seconds)

"""The groups of a layout, placed on nodes, and the bandwidth that each of them has there. Standard library only.

A group with several members in every node uses the ports of all of them, as the all-reduce in two levels of chapter 4
does.

>>> from rankzero.facts.layouts import Job, Layout
>>> from rankzero.facts.models import LLAMA3_70B
>>> job = Job(LLAMA3_70B, gpus=64, global_batch=1024, sequence=4096)
>>> [round(bandwidths(Layout(tp, 1, 1, 64 // tp), job)["dp"] / 1e9) for tp in (8, 1)]
[50, 238]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from math import prod

from rankzero.facts.layouts import Job, Layout

from ..ch04.spanning_groups import group_bandwidth


def placement(layout: Layout, replicas_inside: bool = False) -> dict[str, int]:
    """The sizes of the axes, the innermost first: neighboring ranks differ in the first axis.

    The axis ``"dp"`` is what EP leaves of the replicas: ``layout.dp // layout.ep``.

    Args:
        layout: how the job is split.
        replicas_inside: number the replicas before the stages of the pipeline, so that replicas are neighbors. By
            default stages are.
    """
    pipeline, replicas = {"pp": layout.pp}, {"dp": layout.dp // layout.ep}
    outer = {**replicas, **pipeline} if replicas_inside else {**pipeline, **replicas}
    return {"tp": layout.tp, "cp": layout.cp, "ep": layout.ep, **outer}


def members_in_node(sizes: Mapping[str, int], axes: Collection[str], per_node: int) -> int:
    """How many ranks of the first node belong to rank 0's group along ``axes``.

    Args:
        sizes: of all axes, the innermost first.
        axes: those along which the members of the group differ.
        per_node: ranks in a node, which are filled in order.
    """
    return sum(_in_first_group(rank, sizes, axes) for rank in range(min(per_node, prod(sizes.values()))))


def _in_first_group(rank: int, sizes: Mapping[str, int], axes: Collection[str]) -> bool:
    """Whether a rank's coordinates along all other axes are 0."""
    for axis, size in sizes.items():
        rank, coordinate = divmod(rank, size)
        if coordinate and axis not in axes:
            return False
    return True


def bandwidths(layout: Layout, job: Job, replicas_inside: bool = False) -> dict[str, float]:
    """The bandwidth of one rank in the messages of each axis, bytes/s: :func:`placed_bandwidths` of a layout."""
    sizes = placement(layout, replicas_inside)
    links = job.gpus_per_node, job.node_bandwidth, job.network_bandwidth
    return dict(placed_bandwidths(tuple(sizes.items()), *links))


@lru_cache(maxsize=4096)  # layouts that differ in ZeRO, chunks or recomputation only have the same groups
def placed_bandwidths(
    placed: tuple[tuple[str, int], ...], per_node: int, inside: float, across: float
) -> dict[str, float]:
    """The bandwidth of one rank in the messages of each axis, bytes/s.

    A group inside one node has the node's bandwidth. For a group that spans nodes:

    - ``"tp"``, ``"dp"`` and ``"experts"`` (the copies of one expert): that of ``group_bandwidth``, for the members that
      the group has in each node;
    - ``"cp"`` and ``"pp"``: a network port, because some neighbors are in different nodes and the others wait for them;
    - ``"ep"``: each rank sends to members of its node and to the others at the same time, and the slower part counts.
    """
    sizes = dict(placed)

    def near(*axes: str) -> int:
        return members_in_node(sizes, axes, per_node)

    def reduced(*axes: str) -> float:
        return group_bandwidth(prod(sizes[axis] for axis in axes), near(*axes), inside, across)

    def neighbors(axis: str) -> float:
        return inside if near(axis) == sizes[axis] else across

    return {
        "tp": reduced("tp"),
        "cp": neighbors("cp"),
        "ep": _all_to_all(sizes["ep"], near("ep"), inside, across),
        "pp": neighbors("pp"),
        "dp": reduced("cp", "ep", "dp"),
        "experts": reduced("cp", "dp"),
    }


def _all_to_all(ranks: int, near: int, inside: float, across: float) -> float:
    """Bytes that a rank sends to the others, over the time of the slower part; each other rank gets as much."""
    return inside if near == ranks else (ranks - 1) / max((near - 1) / inside, (ranks - near) / across)

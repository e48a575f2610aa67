"""The step time of a layout whose ranks have been placed on nodes. Standard library only.

``layout_model.step_parts`` gives the messages of an axis one of two bandwidths: a GPU's own inside a node if the axis
fits there, and otherwise that of a single network port. Here each group is first placed on the nodes. A group with
several members in every node uses the ports of all of them, as the all-reduce in two levels of chapter 4 does.

>>> from rankzero.facts.layouts import Job, Layout
>>> from rankzero.facts.models import LLAMA3_70B
>>> job = Job(LLAMA3_70B, gpus=64, global_batch=1024, sequence=4096)
>>> [round(bandwidths(Layout(tp, 1, 1, 64 // tp), job)["dp"] / 1e9) for tp in (8, 1)]
[50, 238]
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import prod

from rankzero.facts.layouts import Job, Layout

from ..ch04.all_reduce_algorithms import hierarchical_all_reduce_time
from .layout_model import microbatches_of, parameters_on_gpu, step_parts

#: The axes whose messages nothing hides, by their names in ``step_parts``.
EXPOSED = ("TP", "CP", "EP", "PP")


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
    """The bandwidth of one rank in the messages of each axis, bytes/s.

    A group inside one node has the node's bandwidth. For a group that spans nodes:

    - ``"tp"``, ``"dp"`` and ``"experts"`` (the copies of one expert): bytes sent on a ring of the whole group, over the
      time of the two-level all-reduce of ``hierarchical_all_reduce_time``;
    - ``"cp"`` and ``"pp"``: a network port, because some neighbors are in different nodes and the others wait for them;
    - ``"ep"``: each rank sends to members of its node and to the others at the same time, and the slower part counts.

    Source: chapter 4 for the all-reduce in two levels; a reduce-scatter or an all-gather is half of it.
    """
    sizes = placement(layout, replicas_inside)
    inside, across = job.node_bandwidth, job.network_bandwidth

    def reduced(*axes: str) -> float:
        ranks, near = prod(sizes[axis] for axis in axes), members_in_node(sizes, axes, job.gpus_per_node)
        if near == ranks:
            return inside
        seconds = hierarchical_all_reduce_time(1.0, -(-ranks // near), near, inside, across)
        return min(inside, 2 * (ranks - 1) / ranks / seconds)

    def neighbors(axis: str) -> float:
        return inside if members_in_node(sizes, (axis,), job.gpus_per_node) == sizes[axis] else across

    return {
        "tp": reduced("tp"),
        "cp": neighbors("cp"),
        "ep": _all_to_all(layout.ep, members_in_node(sizes, ("ep",), job.gpus_per_node), inside, across),
        "pp": neighbors("pp"),
        "dp": reduced("cp", "ep", "dp"),
        "experts": reduced("cp", "dp"),
    }


def _all_to_all(ranks: int, near: int, inside: float, across: float) -> float:
    """Bytes that a rank sends to the others, over the time of the slower part; each other rank gets as much."""
    return inside if near == ranks else (ranks - 1) / max((near - 1) / inside, (ranks - near) / across)


def placed_parts(layout: Layout, job: Job, replicas_inside: bool = False) -> dict[str, float]:
    """The time of one step by what it is spent on, seconds, as ``step_parts`` has it, with placed :func:`bandwidths`.

    Raises:
        ValueError: as for ``layout_memory``.

    Source: for the bytes and the idle time, Narayanan et al. (2021), arXiv:2104.04473 (TP, PP); Liu et al. (2023),
    arXiv:2310.01889 (CP); Lepikhin et al. (2020), arXiv:2006.16668 (EP); Rajbhandari et al. (2020), arXiv:1910.02054
    (DP).
    """
    microbatches, found = microbatches_of(layout, job), bandwidths(layout, job, replicas_inside)
    # At 1 byte/s everywhere, the seconds of a message are its bytes.
    sent = step_parts(layout, replace(job, node_bandwidth=1.0, network_bandwidth=1.0))
    parts = {"compute": sent["compute"]} | {axis: sent[axis] / found[axis.lower()] for axis in EXPOSED}
    unit = sum(parts.values()) / microbatches
    parts["idle"] = unit * (layout.pp - 1) / layout.virtual_stages
    parts["DP"] = _unhidden(layout, job, microbatches, unit, found)
    return parts


def _unhidden(layout: Layout, job: Job, microbatches: int, unit: float, found: Mapping[str, float]) -> float:
    """Seconds in which weights are gathered and gradients scattered while nothing computes, as in ``step_parts``."""
    ranks = layout.dp * layout.cp
    groups = ((ranks, found["dp"]), (ranks // layout.ep, found["experts"]))
    shares = [(size - 1) / size / bandwidth for size, bandwidth in groups]
    shared, experts = parameters_on_gpu(layout, job.model)
    gather = 2 * (shared * shares[0] + experts * shares[1])
    if layout.zero < 3:
        return max(0.0, 2 * gather - unit * 2 / 3)
    return microbatches * max(0.0, 2 * gather - unit) + max(0.0, gather - unit * 2 / 3)

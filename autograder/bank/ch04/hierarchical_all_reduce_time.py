"""Chapter 4: ``hierarchical_all_reduce_time``, levels."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, us


def _bandwidths(rng: Random) -> tuple[float, float]:
    """Inside a node and of one network port."""
    return rng.uniform(60, 900) * GB, rng.uniform(1, 100) * GB


def _levels(rng: Random) -> Case:
    sizes = (10 ** rng.uniform(6, 11), rng.randint(2, 64), rng.randint(2, 16))
    return Case(args=(*sizes, *_bandwidths(rng)))


def _latencies(rng: Random) -> Case:
    latencies = {"intra_latency": 10 ** rng.uniform(-7, -6), "inter_latency": 10 ** rng.uniform(-5, -4)}
    return Case(args=_levels(rng).args, kwargs=latencies)


def _one_level_of_each(rng: Random) -> list[Case]:
    sizes = ((1, rng.randint(2, 16)), (rng.randint(2, 64), 1), (1, 1))
    return [Case(args=(10 ** rng.uniform(6, 11), *each, *_bandwidths(rng), 1 * us, 10 * us)) for each in sizes]


LEVELS = "return inside + ring_all_reduce_time(share, nodes, inter_bandwidth, inter_latency)"


EXERCISE = Build(
    "04 all_reduce_algorithms.hierarchical_all_reduce_time",
    section="4.14",
    topic="levels",
    bonus=True,
    cases=(
        Case(args=(20 * GB, 8, 8, 450 * GB, 50 * GB)),
        Case(args=(20 * GB, 8, 8, 450 * GB, 50 * GB), kwargs={"intra_latency": 3 * us, "inter_latency": 10 * us}),
        Case(args=(20 * GB, 8, 8, 300 * GB, 50 * GB)),
        Case(args=(1 * GB, 1, 8, 450 * GB, 50 * GB)),  # one node: the ideal of eight H100
        Case(args=(1 * GB, 8, 1, 450 * GB, 50 * GB)),
        Case(args=(1 * GB, 2, 8, 450 * GB, 50 * GB)),
    ),
    groups=(
        Group("without latency", _levels, 5, "Inside the whole tensor, across nodes a share of it on every port."),
        Group("with latency", _latencies, 5, "Each level has its own start-ups: 2(g-1) inside, 2(n-1) across."),
        listed("one level", _one_level_of_each, "One node is a ring inside, one rank per node a ring outside."),
    ),
    slips=(
        Slip(
            "The whole tensor crosses between nodes: each rank all-reduces its share, S/g, on its own port.",
            edit=(
                "ring_all_reduce_time(share, nodes, inter_bandwidth, inter_latency)",
                "2 * (nodes - 1) * (inter_latency + message_bytes / (nodes * inter_bandwidth))",
            ),
        ),
        Slip(
            "The way back inside the node is missing: reduce-scatter first, all-gather last.",
            edit=("return inside + ", "return inside / 2 + "),
        ),
        Slip(
            "The ports were added up although the tensor was already divided among them.",
            edit=("nodes, inter_bandwidth, inter_latency", "nodes, ranks_per_node * inter_bandwidth, inter_latency"),
        ),
        Slip(
            "That is one flat ring over all ranks at the speed of a port: use the levels.",
            edit=(
                "share = message_bytes / ranks_per_node",
                (
                    "if nodes > 1:\n"
                    "        return ring_all_reduce_time(message_bytes, nodes * ranks_per_node, "
                    "inter_bandwidth, inter_latency)\n"
                    "    share = message_bytes / ranks_per_node"
                ),
            ),
        ),
        Slip(
            "The two latencies are swapped.",
            edits=(
                ("ranks_per_node, intra_bandwidth, intra_latency)", "ranks_per_node, intra_bandwidth, inter_latency)"),
                ("nodes, inter_bandwidth, inter_latency)", "nodes, inter_bandwidth, intra_latency)"),
            ),
        ),
    ),
    rights=(
        Right(
            "phase by phase",
            edit=(
                LEVELS,
                "steps, part = nodes - 1, share / nodes\n"
                "    return inside / 2 + 2 * steps * inter_latency + 2 * steps * (part / inter_bandwidth)"
                " + inside / 2",
            ),
        ),
        Right(
            "the whole over all ports",
            edit=(
                LEVELS,
                "ports = ranks_per_node * inter_bandwidth\n"
                "    return ring_all_reduce_time(message_bytes, nodes, ports, inter_latency) + inside",
            ),
        ),
    ),
    promises=(
        Promise(
            "each rank all-reduces its share, S/g",
            edit=("share = message_bytes / ranks_per_node", "share = message_bytes"),
        ),
    ),
)

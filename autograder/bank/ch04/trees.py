"""Chapter 04: two binary trees in which hardly a rank is inner twice, and an all-reduce in two levels."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip
from rankzero.facts.units import GB, us


def _trees(rng: Random) -> Case:
    return Case(args=(rng.randint(9, 100),))


def _trees_of_each(rng: Random) -> list[Case]:
    """Even and odd numbers between powers of two, and a power of two."""
    return [Case(args=(n,)) for n in (2 * rng.randint(5, 7), 2 * rng.randint(5, 7) + 1, 2 * rng.randint(20, 31), 16)]


def _odd(rng: Random) -> Case:
    return Case(args=(2 * rng.randint(4, 60) + 1,))


def _few_of_each(rng: Random) -> list[Case]:
    return [Case(args=(ranks,)) for ranks in (1, 2, 3, 5)]


DOUBLE_BINARY_TREE = Build(
    id="04-double-binary-tree",
    module="all_reduce_algorithms",
    function="double_binary_tree",
    grade="call",
    section="4.10",
    topic="two trees",
    bonus=True,
    cases=(
        *(Case(args=(ranks,)) for ranks in (1, 2, 4, 6, 7, 8)),
        Case(args=(14,)),  # the example in the library's source
    ),
    groups=(
        Group(
            "many ranks", _trees, 5, "A rank's parent lies one level up: look at the lowest set bit.", _trees_of_each
        ),
        Group("odd numbers", _odd, 3, "With an odd number of ranks the second tree is shifted by one, not mirrored."),
        listed("few ranks", _few_of_each, "One, two, three or five ranks have two trees, too."),
    ),
    slips=(
        Slip(
            "The second tree is the first with another root: inner ranks stay inner in both.",
            edit=(
                "[ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks for rank in range(ranks)]",
                "[{0: ranks - 1, ranks - 1: 0}.get(rank, rank) for rank in range(ranks)]",
            ),
        ),
        Slip(
            "That is the layout of a heap, 2r+1 and 2r+2: shifted by one, most inner ranks are inner again.",
            edits=(
                ("_parent(rank, ranks) for rank", "None if rank == 0 else (rank - 1) // 2 for rank"),
                ("ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks", "(rank + 1) % ranks"),
            ),
        ),
        Slip(
            "An odd number of ranks was mirrored, too: its middle rank stays in place and is inner twice.",
            edit=("ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks", "ranks - 1 - rank"),
        ),
        Slip(
            "A parent lies outside the world: above the last rank, take the lower one, r - b.",
            edits=(
                ("return upper if upper < ranks else rank - bit", "return upper"),
                ("% ranks for rank in range(ranks)]", "% ranks for rank in range(2 * ranks)]"),
            ),
        ),
    ),
)


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


HIERARCHICAL_ALL_REDUCE_TIME = Build(
    id="04-hierarchical-all-reduce-time",
    module="all_reduce_algorithms",
    function="hierarchical_all_reduce_time",
    grade="call",
    section="4.14",
    bonus=True,
    topic="levels",
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
)

ITEMS = (DOUBLE_BINARY_TREE, HIERARCHICAL_ALL_REDUCE_TIME)

"""Chapter 04: two binary trees in which hardly a rank is inner twice, and an all-reduce in two levels."""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="call-overload"

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.units import GB, us

# --- double_binary_tree


def slip_same_tree(ranks):
    if ranks < 1:
        raise ValueError("ranks")
    first = [None] * ranks
    for rank in range(1, ranks):
        bit = rank & -rank
        upper = (rank - bit) | 2 * bit
        first[rank] = upper if upper < ranks else rank - bit
    swap = {0: ranks - 1, ranks - 1: 0}
    second = [None] * ranks
    for rank, parent in enumerate(first):
        second[swap.get(rank, rank)] = None if parent is None else swap.get(parent, parent)
    return first, second


def slip_heap(ranks):
    if ranks < 1:
        raise ValueError("ranks")
    first = [None if rank == 0 else (rank - 1) // 2 for rank in range(ranks)]
    second = [None] * ranks
    for rank, parent in enumerate(first):
        second[(rank + 1) % ranks] = None if parent is None else (parent + 1) % ranks
    return first, second


def slip_always_mirrored(ranks):
    if ranks < 1:
        raise ValueError("ranks")
    first = [None] * ranks
    for rank in range(1, ranks):
        bit = rank & -rank
        upper = (rank - bit) | 2 * bit
        first[rank] = upper if upper < ranks else rank - bit
    second = [None if parent is None else ranks - 1 - parent for parent in reversed(first)]
    return first, second


def slip_parent_outside(ranks):
    if ranks < 1:
        raise ValueError("ranks")
    first = [None] * ranks
    for rank in range(1, ranks):
        bit = rank & -rank
        first[rank] = (rank - bit) | 2 * bit
    second = [None] * ranks
    for rank, parent in enumerate(first):
        name = ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks
        above = None if parent is None else ranks - 1 - parent if ranks % 2 == 0 else (parent + 1) % ranks
        second[name] = above
    return first, second


def slip_trees_unchecked(ranks):
    first = [None] * ranks
    for rank in range(1, ranks):
        bit = rank & -rank
        upper = (rank - bit) | 2 * bit
        first[rank] = upper if upper < ranks else rank - bit
    second = [None] * ranks
    for rank, parent in enumerate(first):
        name = ranks - 1 - rank if ranks % 2 == 0 else (rank + 1) % ranks
        above = None if parent is None else ranks - 1 - parent if ranks % 2 == 0 else (parent + 1) % ranks
        second[name] = above
    return first, second


def _trees(rng: Random) -> Case:
    return Case(args=(rng.randint(9, 100),))


def _trees_of_each(rng: Random) -> list[Case]:
    """Even and odd numbers between powers of two, and a power of two."""
    return [Case(args=(n,)) for n in (2 * rng.randint(5, 7), 2 * rng.randint(5, 7) + 1, 2 * rng.randint(20, 31), 16)]


def _odd(rng: Random) -> Case:
    return Case(args=(2 * rng.randint(4, 60) + 1,))


def _few(rng: Random) -> Case:
    return Case(args=(rng.randint(1, 8),))


def _few_of_each(rng: Random) -> list[Case]:
    return [Case(args=(ranks,)) for ranks in (1, 2, 3, 5)]


def _no_ranks(rng: Random) -> Case:
    return Case(args=(-rng.randint(0, 8),), raises="ValueError")


DOUBLE_BINARY_TREE = Build(
    id="04-double-binary-tree",
    module="all_reduce_algorithms",
    function="double_binary_tree",
    grade="call",
    section="4.4",
    topic="two trees",
    bonus=True,
    cases=(
        *(Case(args=(ranks,)) for ranks in (1, 2, 4, 6, 7, 8)),
        Case(args=(14,)),  # the example in the library's source
        Case(args=(0,), raises="ValueError"),
    ),
    groups=(
        Group(
            "many ranks", _trees, 5, "A rank's parent lies one level up: look at the lowest set bit.", _trees_of_each
        ),
        Group("odd numbers", _odd, 3, "With an odd number of ranks the second tree is shifted by one, not mirrored."),
        Group("few ranks", _few, 4, "One, two, three or five ranks have two trees, too.", _few_of_each),
        Group(
            "bad input",
            _no_ranks,
            3,
            "Bad input must raise ValueError: there is at least one rank, and a whole number of them.",
            lambda rng: [invalid(rng.randint(1, 8) + 0.5)],
        ),
    ),
    slips=(
        Slip("The second tree is the first with another root: inner ranks stay inner in both.", slip_same_tree),
        Slip(
            "That is the layout of a heap, 2r+1 and 2r+2: shifted by one, most inner ranks are inner again.", slip_heap
        ),
        Slip(
            "An odd number of ranks was mirrored, too: its middle rank stays in place and is inner twice.",
            slip_always_mirrored,
        ),
        Slip("A parent lies outside the world: above the last rank, take the lower one, r - b.", slip_parent_outside),
        Slip("Impossible arguments were accepted: there is at least one rank.", slip_trees_unchecked),
    ),
)


# --- hierarchical_all_reduce_time


def slip_whole_across(
    message_bytes, nodes, ranks_per_node, intra_bandwidth, inter_bandwidth, intra_latency=0.0, inter_latency=0.0
):
    if nodes < 1 or ranks_per_node < 1 or message_bytes < 0 or intra_bandwidth <= 0 or inter_bandwidth <= 0:
        raise ValueError("out of range")
    if intra_latency < 0 or inter_latency < 0:
        raise ValueError("latency")
    inside = 2 * (ranks_per_node - 1) * (intra_latency + message_bytes / (ranks_per_node * intra_bandwidth))
    return inside + 2 * (nodes - 1) * (inter_latency + message_bytes / (nodes * inter_bandwidth))


def slip_not_gathered(
    message_bytes, nodes, ranks_per_node, intra_bandwidth, inter_bandwidth, intra_latency=0.0, inter_latency=0.0
):
    if nodes < 1 or ranks_per_node < 1 or message_bytes < 0 or intra_bandwidth <= 0 or inter_bandwidth <= 0:
        raise ValueError("out of range")
    if intra_latency < 0 or inter_latency < 0:
        raise ValueError("latency")
    inside = (ranks_per_node - 1) * (intra_latency + message_bytes / (ranks_per_node * intra_bandwidth))
    share = message_bytes / ranks_per_node
    return inside + 2 * (nodes - 1) * (inter_latency + share / (nodes * inter_bandwidth))


def slip_ports_added(
    message_bytes, nodes, ranks_per_node, intra_bandwidth, inter_bandwidth, intra_latency=0.0, inter_latency=0.0
):
    if nodes < 1 or ranks_per_node < 1 or message_bytes < 0 or intra_bandwidth <= 0 or inter_bandwidth <= 0:
        raise ValueError("out of range")
    if intra_latency < 0 or inter_latency < 0:
        raise ValueError("latency")
    inside = 2 * (ranks_per_node - 1) * (intra_latency + message_bytes / (ranks_per_node * intra_bandwidth))
    share, node_bandwidth = message_bytes / ranks_per_node, ranks_per_node * inter_bandwidth
    return inside + 2 * (nodes - 1) * (inter_latency + share / (nodes * node_bandwidth))


def slip_flat_ring(
    message_bytes, nodes, ranks_per_node, intra_bandwidth, inter_bandwidth, intra_latency=0.0, inter_latency=0.0
):
    if nodes < 1 or ranks_per_node < 1 or message_bytes < 0 or intra_bandwidth <= 0 or inter_bandwidth <= 0:
        raise ValueError("out of range")
    if intra_latency < 0 or inter_latency < 0:
        raise ValueError("latency")
    ranks = nodes * ranks_per_node
    bandwidth, latency = (inter_bandwidth, inter_latency) if nodes > 1 else (intra_bandwidth, intra_latency)
    return 2 * (ranks - 1) * (latency + message_bytes / (ranks * bandwidth))


def slip_latencies_swapped(
    message_bytes, nodes, ranks_per_node, intra_bandwidth, inter_bandwidth, intra_latency=0.0, inter_latency=0.0
):
    if nodes < 1 or ranks_per_node < 1 or message_bytes < 0 or intra_bandwidth <= 0 or inter_bandwidth <= 0:
        raise ValueError("out of range")
    if intra_latency < 0 or inter_latency < 0:
        raise ValueError("latency")
    inside = 2 * (ranks_per_node - 1) * (inter_latency + message_bytes / (ranks_per_node * intra_bandwidth))
    share = message_bytes / ranks_per_node
    return inside + 2 * (nodes - 1) * (intra_latency + share / (nodes * inter_bandwidth))


def slip_levels_unchecked(
    message_bytes, nodes, ranks_per_node, intra_bandwidth, inter_bandwidth, intra_latency=0.0, inter_latency=0.0
):
    inside = 2 * (ranks_per_node - 1) * (intra_latency + message_bytes / (ranks_per_node * intra_bandwidth))
    share = message_bytes / ranks_per_node
    return inside + 2 * (nodes - 1) * (inter_latency + share / (nodes * inter_bandwidth))


def _bandwidths(rng: Random) -> tuple[float, float]:
    """Inside a node and of one network port."""
    return rng.uniform(60, 900) * GB, rng.uniform(1, 100) * GB


def _levels(rng: Random) -> Case:
    sizes = (10 ** rng.uniform(6, 11), rng.randint(2, 64), rng.randint(2, 16))
    return Case(args=(*sizes, *_bandwidths(rng)))


def _latencies(rng: Random) -> Case:
    latencies = {"intra_latency": 10 ** rng.uniform(-7, -6), "inter_latency": 10 ** rng.uniform(-5, -4)}
    return Case(args=_levels(rng).args, kwargs=latencies)


def _one_level(rng: Random) -> Case:
    sizes = rng.choice([(1, rng.randint(2, 16)), (rng.randint(2, 64), 1), (1, 1)])
    return Case(args=(10 ** rng.uniform(6, 11), *sizes, *_bandwidths(rng), 1 * us, 10 * us))


def _one_level_of_each(rng: Random) -> list[Case]:
    sizes = ((1, rng.randint(2, 16)), (rng.randint(2, 64), 1), (1, 1))
    return [Case(args=(10 ** rng.uniform(6, 11), *each, *_bandwidths(rng), 1 * us, 10 * us)) for each in sizes]


def _level_errors(rng: Random) -> list[Case]:
    nodes, inside = rng.randint(2, 8), rng.randint(2, 8)
    broken: list[tuple] = [
        (-1.0, nodes, inside, 450 * GB, 50 * GB),
        (1 * GB, 0, inside, 450 * GB, 50 * GB),
        (1 * GB, nodes, -inside, 450 * GB, 50 * GB),
        (1 * GB, nodes, inside, -450 * GB, 50 * GB),
        (1 * GB, nodes, inside, 450 * GB, -50 * GB),
        (1 * GB, nodes, inside, 450 * GB, 50 * GB, -1 * us),
        (1 * GB, nodes, inside, 450 * GB, 50 * GB, 0.0, -1 * us),
    ]
    return [Case(args=args, raises="ValueError") for args in broken]


def _level_error(rng: Random) -> Case:
    return rng.choice(_level_errors(rng))


HIERARCHICAL_ALL_REDUCE_TIME = Build(
    id="04-hierarchical-all-reduce-time",
    module="all_reduce_algorithms",
    function="hierarchical_all_reduce_time",
    grade="call",
    section="4.6",
    topic="levels",
    cases=(
        Case(args=(20 * GB, 8, 8, 450 * GB, 50 * GB)),
        Case(args=(20 * GB, 8, 8, 450 * GB, 50 * GB), kwargs={"intra_latency": 3 * us, "inter_latency": 10 * us}),
        Case(args=(20 * GB, 8, 8, 300 * GB, 50 * GB)),
        Case(args=(1 * GB, 1, 8, 450 * GB, 50 * GB)),  # one node: the ideal of eight H100
        Case(args=(1 * GB, 8, 1, 450 * GB, 50 * GB)),
        Case(args=(1 * GB, 2, 8, 450 * GB, 50 * GB)),
        Case(args=(1 * GB, 0, 8, 450 * GB, 50 * GB), raises="ValueError"),
    ),
    groups=(
        Group("without latency", _levels, 5, "Inside the whole tensor, across nodes a share of it on every port."),
        Group("with latency", _latencies, 5, "Each level has its own start-ups: 2(g-1) inside, 2(n-1) across."),
        Group(
            "one level",
            _one_level,
            3,
            "One node is a ring inside, one rank per node a ring outside.",
            _one_level_of_each,
        ),
        Group(
            "bad input",
            _level_error,
            7,
            "Bad input must raise ValueError: negative numbers, no nodes, no ranks, no bandwidth.",
            _level_errors,
        ),
    ),
    slips=(
        Slip(
            "The whole tensor crosses between nodes: each rank all-reduces its share, S/g, on its own port.",
            slip_whole_across,
        ),
        Slip("The way back inside the node is missing: reduce-scatter first, all-gather last.", slip_not_gathered),
        Slip("The ports were added up although the tensor was already divided among them.", slip_ports_added),
        Slip("That is one flat ring over all ranks at the speed of a port: use the levels.", slip_flat_ring),
        Slip("The two latencies are swapped.", slip_latencies_swapped),
        Slip("Impossible arguments were accepted: negative numbers, no nodes, no ranks.", slip_levels_unchecked),
    ),
)

ITEMS = (DOUBLE_BINARY_TREE, HIERARCHICAL_ALL_REDUCE_TIME)

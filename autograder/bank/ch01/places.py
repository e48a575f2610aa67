"""Chapter 01: node and local rank of a global rank, a build item, and the device that follows from it, to fix."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip

# --- locate


def _place(rng: Random) -> Case:
    return Case((rng.randrange(32_768), rng.choice((1, 2, 4, 6, 8, 72))))


def _places(rng: Random) -> list[Case]:
    """Every size of a node; the node's number is larger than any local rank."""
    return [Case((rng.randrange(size * size, 32_768), size)) for size in (2, 4, 6, 8, 72)]


def _first_node(rng: Random) -> Case:
    size = rng.choice((4, 8, 72))
    return Case((rng.randrange(size), size))


def _first_nodes(rng: Random) -> list[Case]:
    return [Case((0, 8)), Case((7, 8)), Case((8, 8)), Case((rng.randrange(1, 100), 1))]


LOCATE = Build(
    id="01-locate",
    module="ranks",
    function="locate",
    grade="call",
    section="1.11",
    topic="rank arithmetic",
    bonus=True,
    cases=(
        Case((0, 8)),
        Case((13, 8)),
        Case((1234, 8)),
        Case((16_383, 8)),  # the last GPU of the run that trained Llama 3 405B
    ),
    groups=(
        Group("worlds", _place, 8, "A node holds as many ranks as it is said to, and node 0 is filled first.", _places),
        Group("first ranks", _first_node, 5, "Everything counts from 0; a node may hold one rank.", _first_nodes),
    ),
    slips=(
        Slip(
            "Node and local rank are swapped: that deals the ranks out over nodes in turn.",
            edit=("divmod(rank, ranks_per_node)", "(rank % ranks_per_node, rank // ranks_per_node)"),
        ),
        Slip(
            "The global rank was returned for the local one: no node has a device of that number.",
            edit=("divmod(rank, ranks_per_node)", "(rank // ranks_per_node, rank)"),
        ),
        Slip(
            "Nodes and local ranks were counted from 1: they count from 0, as ranks do.",
            edit=("divmod(rank, ranks_per_node)", "(rank // ranks_per_node + 1, rank % ranks_per_node + 1)"),
        ),
    ),
)


# --- debug_device


def wrong_device(environ):
    return int(environ["RANK"])


def launched(rank: int, world_size: int, local_rank: int) -> Case:
    """What torchrun tells one process."""
    numbers = {"RANK": rank, "WORLD_SIZE": world_size, "LOCAL_RANK": local_rank, "MASTER_PORT": 29_500}
    return Case(({name: str(number) for name, number in numbers.items()} | {"MASTER_ADDR": "node-0"},))


def _later_node(rng: Random, size: int = 0) -> Case:
    """A rank on the second node or a later one, of ``size`` devices: by default not a divisor of 8."""
    size = size or rng.choice((3, 5, 6, 7, 12))
    nodes, local = rng.randint(2, 32), rng.randrange(size)
    return launched(rng.randrange(1, nodes) * size + local, nodes * size, local)


def _on_first_node(rng: Random) -> Case:
    local = rng.randrange(8)
    return launched(local, 8 * rng.randint(1, 4), local)


def _unlike(rng: Random) -> Case:
    """Node 0 has fewer devices than node 1."""
    first = rng.choice((2, 4, 6))
    local = rng.randrange(first, 8)
    return launched(first + local, first + 8, local)


DEBUG_DEVICE = Debug(
    id="01-debug-device",
    module="ranks",
    function="debug_device",
    grade="call",
    section="1.11",
    topic="device of a rank",
    bonus=True,
    cases=(launched(9, 16, 1), launched(3, 16, 3), launched(15, 16, 7)),
    groups=(
        Group(
            "later nodes",
            _later_node,
            6,
            "On every node the devices count from 0.",
            lambda rng: [_later_node(rng, size) for size in (8, 4, 6, 12)],
        ),
        Group("the first node", _on_first_node, 2, "On the first node, global and local ranks are the same."),
        Group("unlike nodes", _unlike, 3, "Nodes may have different numbers of devices: ask the launcher."),
    ),
    slips=(
        Slip("The device is still the global rank; to take it modulo the world size changes nothing.", wrong_device),
        Slip(
            "That holds for nodes of eight devices: the launcher says LOCAL_RANK on any node.",
            edit=('int(environ["LOCAL_RANK"])', 'int(environ["RANK"]) % 8'),
        ),
        Slip(
            "The variable is text, and a device is a number: convert it with int.",
            edit=('int(environ["LOCAL_RANK"])', 'environ["LOCAL_RANK"]'),
        ),
    ),
    wrong=wrong_device,
)

ITEMS = (LOCATE, DEBUG_DEVICE)

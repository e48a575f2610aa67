"""Chapter 1: ``debug_device``, device of a rank."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Slip


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


EXERCISE = Debug(
    "01 ranks.debug_device",
    section="1.11",
    topic="device of a rank",
    bonus=True,
    wrong=wrong_device,
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
)

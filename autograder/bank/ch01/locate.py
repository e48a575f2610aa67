"""Chapter 1: ``locate``, rank arithmetic."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Slip


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


EXERCISE = Build(
    "01 ranks.locate",
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
    promises=(Promise("everything counts from 0", edit=("return divmod(", "return divmod(1 + ")),),
)

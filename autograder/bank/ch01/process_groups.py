"""Chapter 1: ``process_groups``, process groups."""

from __future__ import annotations

from random import Random

from autograder.bank.ch01.shared import NAMES
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip


def _grouping(rng: Random, index: int = -1) -> Case:
    """Three axes of sizes 2 to 8, and one of them: by default any."""
    names = rng.sample(NAMES, 3)
    sizes = dict(zip(names, rng.sample(range(2, 9), 3), strict=True))
    return Case((sizes, names[index if index >= 0 else rng.randrange(3)]))


def _other_worlds(rng: Random) -> list[Case]:
    """One, two and four axes, and a large world."""
    large = {"dp": rng.choice((16, 32)), "pp": rng.choice((4, 8)), "tp": 8}
    four = dict(zip(rng.sample(NAMES, 4), rng.sample(range(2, 6), 4), strict=True))
    return [
        Case(({"dp": rng.randint(2, 16)}, "dp")),
        Case(({"dp": rng.randint(2, 16), "tp": rng.randint(2, 16)}, "dp")),
        Case((four, [*four][1])),
        Case((large, "pp")),
    ]


def _single_axes(rng: Random) -> list[Case]:
    size = rng.randint(2, 8)
    return [Case(({"dp": size, "tp": 1}, "tp")), Case(({"pp": 1, "dp": size}, "pp")), Case(({"tp": 1}, "tp"))]


EXERCISE = Build(
    "01 ranks.process_groups",
    section="1.6",
    topic="process groups",
    cases=(
        *(
            Case(({"pp": 4, "dp": 2, "tp": 2}, axis)) for axis in ("tp", "dp", "pp")
        ),  # 16 GPUs in Megatron's documentation
        Case(({"dp": 2}, "dp")),
        Case(({"dp": 2, "tp": 1}, "tp")),
    ),
    groups=(
        Group(
            "three axes",
            _grouping,
            7,
            "Members of a group differ in one position only, on any of the axes.",
            lambda rng: [_grouping(rng, place) for place in (0, 1, 2, 0, 1, 2)],
        ),
        listed("other worlds", _other_worlds, "There may be one axis, two or four, and hundreds of ranks."),
        listed("axes of one", _single_axes, "Along an axis of size 1, every rank is a group of its own."),
    ),
    slips=(
        Slip(
            "The world was cut into neighbors: that is right along the last axis only.",
            edit=("math.prod(sizes[name] for name in names[names.index(axis) + 1 :])", "1"),
        ),
        Slip(
            "These ranks share the position on the axis; members of a group differ in it.",
            edit=(
                "[list(range(first, first + length, stride)) for first in firsts]",
                "[[rank for rank in range(math.prod(sizes.values())) if rank // stride % sizes[axis] == place] "
                "for place in range(sizes[axis])]",
            ),
        ),
        Slip(
            "Groups of one rank were left out: every rank is in a group along every axis.",
            edit=("for first in firsts]", "for first in firsts if length > stride]"),
        ),
        Slip(
            "The stride is the product of the faster axes, those after it; here it is the product of those before.",
            edit=("names[names.index(axis) + 1 :]", "names[: names.index(axis)]"),
        ),
        Slip(
            "The groups are right but not sorted by their first members.",
            edit=("return [list(", "firsts.sort(key=lambda first: first % stride)\n    return [list("),
        ),
    ),
    promises=(
        Promise(
            "each of ``sizes[axis]`` ascending ranks",
            edits=(("list(range(", "list(reversed(range("), ("stride)) for", "stride))) for")),
        ),
        Promise("sorted by their first members", edit=("for first in firsts]", "for first in reversed(firsts)]")),
        Promise(
            "Every rank of the world is in exactly one of them",
            edit=("for first in firsts]", "for first in firsts[1:]]"),
        ),
        Promise(
            "an axis of size 1 gives a group of one for each rank",
            edit=("for first in firsts]", "for first in firsts if sizes[axis] > 1]"),
        ),
    ),
)

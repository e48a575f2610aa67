"""Chapter 01: process groups, lines along one axis of the world, a build item.

Wrong programs are complete in themselves.
"""

from __future__ import annotations

from random import Random

from autograder.bank.ch01_coordinates import NAMES
from autograder.items import Build, Case, Group, Slip, invalid


def slip_chunks(sizes, axis):
    import math

    world = math.prod(sizes.values())
    if not sizes or min(sizes.values()) < 1 or axis not in sizes:
        raise ValueError("out of range")
    return [list(range(first, first + sizes[axis], 1)) for first in range(0, world, sizes[axis])]


def slip_complement(sizes, axis):
    import math

    world = math.prod(sizes.values())
    if not sizes or min(sizes.values()) < 1 or axis not in sizes:
        raise ValueError("out of range")
    names, stride = [*sizes], 1
    for name in names[names.index(axis) + 1 :]:
        stride *= sizes[name]
    return [[r for r in range(world) if r // stride % sizes[axis] == place] for place in range(sizes[axis])]


def slip_no_singles(sizes, axis):
    import math

    world = math.prod(sizes.values())
    if not sizes or min(sizes.values()) < 1 or axis not in sizes:
        raise ValueError("out of range")
    names, stride = [*sizes], 1
    for name in names[names.index(axis) + 1 :]:
        stride *= sizes[name]
    length = stride * sizes[axis]
    groups = [list(range(r, r + length, stride)) for r in range(world) if r % length < stride]
    return [group for group in groups if len(group) > 1]


def slip_slower_axes(sizes, axis):
    import math

    world = math.prod(sizes.values())
    if not sizes or min(sizes.values()) < 1 or axis not in sizes:
        raise ValueError("out of range")
    names, stride = [*sizes], 1
    for name in names[: names.index(axis)]:
        stride *= sizes[name]
    length = stride * sizes[axis]
    return [list(range(r, r + length, stride)) for r in range(world) if r % length < stride]


def slip_by_offset(sizes, axis):
    import math

    world = math.prod(sizes.values())
    if not sizes or min(sizes.values()) < 1 or axis not in sizes:
        raise ValueError("out of range")
    names, stride = [*sizes], 1
    for name in names[names.index(axis) + 1 :]:
        stride *= sizes[name]
    length = stride * sizes[axis]
    firsts = [block + offset for offset in range(stride) for block in range(0, world, length)]
    return [list(range(first, first + length, stride)) for first in firsts]


def slip_unchecked_groups(sizes, axis):
    import math

    world = math.prod(sizes.values())
    names, stride = [*sizes], 1
    for name in names[names.index(axis) + 1 :] if axis in names else []:
        stride *= sizes[name]
    length = stride * sizes.get(axis, 1)
    return [list(range(r, r + length, stride)) for r in range(world) if length and r % length < stride]


def _grouping(rng: Random, place: int = -1) -> Case:
    """Three axes of sizes 2 to 8, and one of them: by default any."""
    names = rng.sample(NAMES, 3)
    sizes = dict(zip(names, rng.sample(range(2, 9), 3), strict=True))
    return Case((sizes, names[place if place >= 0 else rng.randrange(3)]))


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


def _groupless(rng: Random) -> list[Case]:
    sizes = {"pp": rng.randint(2, 8), "tp": rng.randint(2, 8)}
    return [
        invalid(sizes, "dp"),
        invalid(sizes, ""),
        invalid({}, "tp"),
        invalid(sizes | {"dp": 0}, "tp"),
        invalid({"dp": -2}, "dp"),
    ]


PROCESS_GROUPS = Build(
    id="01-process-groups",
    module="ranks",
    function="process_groups",
    grade="call",
    section="1.8",
    topic="process groups",
    cases=(
        *(
            Case(({"pp": 4, "dp": 2, "tp": 2}, axis)) for axis in ("tp", "dp", "pp")
        ),  # 16 GPUs in Megatron's documentation
        Case(({"dp": 2}, "dp")),
        Case(({"dp": 2, "tp": 1}, "tp")),
        invalid({"dp": 2, "tp": 2}, "pp"),
    ),
    groups=(
        Group(
            "three axes",
            _grouping,
            7,
            "Members of a group differ in one position only, on any of the axes.",
            lambda rng: [_grouping(rng, place) for place in (0, 1, 2, 0, 1, 2)],
        ),
        Group(
            "other worlds",
            lambda rng: rng.choice(_other_worlds(rng)),
            4,
            "There may be one axis, two or four, and hundreds of ranks.",
            _other_worlds,
        ),
        Group(
            "axes of one",
            lambda rng: rng.choice(_single_axes(rng)),
            3,
            "Along an axis of size 1, every rank is a group of its own.",
            _single_axes,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_groupless(rng)),
            5,
            "Bad input must raise ValueError: an axis that is not there, no axis, a size below 1.",
            _groupless,
        ),
    ),
    slips=(
        Slip("The world was cut into neighbours: that is right along the last axis only.", slip_chunks),
        Slip("These ranks share the position on the axis; members of a group differ in it.", slip_complement),
        Slip("Groups of one rank were left out: every rank is in a group along every axis.", slip_no_singles),
        Slip(
            "The stride is the product of the faster axes, those after it; here it is of those before.",
            slip_slower_axes,
        ),
        Slip("The groups are right and not sorted by their first members.", slip_by_offset),
        Slip("Impossible arguments were accepted: an axis that is not there, a size of 0.", slip_unchecked_groups),
    ),
)

ITEMS = (PROCESS_GROUPS,)

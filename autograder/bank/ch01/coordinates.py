"""Chapter 1: ``coordinates``, coordinates of a rank."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from random import Random
from typing import Any

from autograder.bank.ch01.shared import NAMES
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip
from rankzero.events import Event

#: The largest world of a hidden case.
LARGEST = 16_384


def same_order(case: Case, value: Any, _events: Sequence[Event]) -> str | None:
    """The axes come back in the order in which they were given."""
    if list(value) == list(case.args[1]):
        return None
    return "the axes come back in another order than they were given in"


def axes(rng: Random, count: int) -> dict[str, int]:
    """``count`` axes (at least 2), their names in no alphabetical order, not all of one size; the world is bounded."""
    names = rng.sample(NAMES, count)
    while names == sorted(names):
        rng.shuffle(names)
    sizes = [rng.randint(2, 16) for _ in names]
    while prod(sizes) > LARGEST or len(set(sizes)) == 1:
        sizes = [rng.randint(2, 16) for _ in names]
    return dict(zip(names, sizes, strict=True))


def _position(rng: Random, count: int = 0) -> Case:
    """A rank in the last two thirds of the world, where no position is 0 for every order of the axes."""
    sizes = axes(rng, count or rng.randint(3, 4))
    return Case((rng.randrange(prod(sizes.values()) // 3, prod(sizes.values()) - 1), sizes))


def _few_axes(rng: Random) -> list[Case]:
    """One axis, axes of size 1, the first and the last rank."""
    sizes = axes(rng, 3)
    world = prod(sizes.values())
    single = {"dp": rng.randint(2, 16)}
    thin = {"dp": 1, "pp": rng.randint(3, 16), "tp": 1}
    return [
        Case((single["dp"] - 1, single)),
        Case((0, {"tp": 1})),
        Case((rng.randrange(1, thin["pp"]), thin)),
        Case((0, sizes)),
        Case((world - 1, sizes)),
    ]


EXERCISE = Build(
    "01 ranks.coordinates",
    section="1.11",
    topic="coordinates of a rank",
    bonus=True,
    rule=same_order,
    cases=(
        Case((11, {"pp": 4, "dp": 2, "tp": 2})),
        Case((11, {"dp": 2, "pp": 4, "tp": 2})),
        Case((5000, {"dp": 64, "pp": 16, "tp": 8})),  # the layout of Llama 3 405B on 8,192 GPUs
        Case((5000, {"pp": 16, "dp": 64, "tp": 8})),
        Case((0, {"dp": 1})),
    ),
    groups=(
        Group(
            "three and four axes",
            _position,
            8,
            "The last axis varies fastest, whatever its name; sizes may all differ.",
            lambda rng: [_position(rng, count) for count in (3, 4, 3, 4)],
        ),
        listed(
            "few axes",
            _few_axes,
            "There may be one axis, and axes of size 1; rank 0 and the last rank have positions too.",
        ),
    ),
    slips=(
        Slip(
            "The first axis was taken as the fastest: the last one varies fastest.", edit=("reversed(sizes)", "sizes")
        ),
        Slip(
            "The axes were sorted by name: they are given slowest first, in an order that counts.",
            edit=("reversed(sizes)", "sorted(sizes, reverse=True)"),
        ),
        Slip(
            "Only the next axis was divided out: divide by the sizes of all faster axes.",
            edits=(
                ("places: dict[str, int] = {}", "places, faster = {}, 1"),
                (
                    "rank, places[axis] = divmod(rank, sizes[axis])",
                    "places[axis], faster = rank // faster % sizes[axis], sizes[axis]",
                ),
            ),
        ),
        Slip(
            "Plain division left fractions: positions are whole numbers, divide with //.",
            edit=(
                "rank, places[axis] = divmod(rank, sizes[axis])",
                "places[axis], rank = rank / 1 % sizes[axis], rank / sizes[axis]",
            ),
        ),
        Slip(
            "The position was not taken modulo the size of its axis.",
            edit=("rank, places[axis] = divmod(rank, sizes[axis])", "places[axis], rank = rank, rank // sizes[axis]"),
        ),
        Slip(
            "The axes came back fastest first: keep the order in which they were given.",
            edit=("{axis: places[axis] for axis in sizes}", "places"),
        ),
    ),
    promises=(
        Promise("the last one varies fastest", edit=("in reversed(sizes):", "in sizes:")),
        Promise(
            "the same axes in the same order", edit=("return {axis: places[axis] for axis in sizes}", "return places")
        ),
    ),
)

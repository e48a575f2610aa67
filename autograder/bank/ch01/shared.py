"""What several exercises of chapter 1 share."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Case, Group

#: Names of axes, in no order.
NAMES = ("tp", "cp", "ep", "pp", "dp")


def values(*numbers: float) -> Case:
    """One number for each rank."""
    return Case(args=tuple((float(number),) for number in numbers))


def said(rng: Random, ranks: int = 0) -> Case:
    """Decreasing numbers of both signs: no two equal, none of them a float32."""
    numbers = sorted((rng.uniform(-1000, 1000) for _ in range(ranks or rng.randint(2, 4))), reverse=True)
    return values(*numbers)


def speedup(rng: Random) -> Case:
    return Case((rng.uniform(0.01, 0.4), rng.randint(4, 4096)))


def bounds(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 1024)
    return [Case((0.0, ranks)), Case((0, 49)), Case((1.0, ranks)), Case((rng.uniform(0.05, 0.9), 1))]


GROUPS = (
    Group("shares and ranks", speedup, 6, "The serial part does not get faster; say what the rest does."),
    listed("bounds", bounds, "All may be parallel, or nothing, or one rank."),
)

"""Chapter 14: ``effective_sample_size``, off-policy correction."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _drawn(rng: Random) -> Case:
    return Case((tuple(round(math.exp(rng.gauss(0, 0.7)), 4) for _ in range(rng.randint(3, 40))),))


def _uneven(rng: Random) -> Case:
    weights = [round(math.exp(rng.gauss(-3, 3)), 6) for _ in range(rng.randint(2, 30))]
    weights[0] = round(rng.uniform(2, 9), 3)
    return Case((tuple(weights),))


def _nothing(rng: Random) -> list[Case]:
    count, weight = rng.randint(2, 9), round(rng.uniform(0.2, 0.9), 3)
    masked = tuple(rng.choice((0.0, round(rng.uniform(0.3, 2), 3))) for _ in range(count))
    return [Case(((0.0,) * count,)), Case(((),)), Case(((weight,) * count,)), Case(((weight, 0.0, *masked),))]


def size_by_a_library(weights):
    import numpy

    from solutions.ch14 import off_policy

    off_policy.effective_sample_size(weights)
    given = numpy.array(weights, dtype=float)
    return float(given.sum() ** 2 / (given @ given)) if given.any() else 0.0


def size_by_shares(weights):
    from solutions.ch14 import off_policy

    off_policy.effective_sample_size(weights)
    total = sum(weights)
    return 1 / sum((weight / total) ** 2 for weight in weights) if total else 0.0


EXERCISE = Build(
    "14 off_policy.effective_sample_size",
    section="14.23",
    bonus=True,
    topic="off-policy correction",
    cases=(
        Case(((1.5, 0.5, 1.0),)),
        Case(((2.0, 2.0, 2.0, 2.0),)),
        Case(((5.0, 0.0, 0.0),)),
        Case(((0.0, 0.0),)),
    ),
    groups=(
        Group("weights", _drawn, 6, "The square of the sum over the sum of the squares."),
        Group("uneven weights", _uneven, 4, "A few large weights leave few effective samples."),
        listed("nothing, or all equal", _nothing, "Without a positive one: 0."),
    ),
    slips=(
        Slip(
            "That counts the weights that are not 0: equal ones alone count in full.",
            edit=(
                "math.fsum(shares) ** 2 / math.fsum(share * share for share in shares)",
                "sum(weight > 0 for weight in weights)",
            ),
        ),
        Slip(
            "That is their sum: it grows when every weight doubles, and the answer must not.",
            edit=("math.fsum(shares) ** 2 / math.fsum(share * share for share in shares)", "sum(weights)"),
        ),
        Slip(
            "The weights themselves go in, not their logarithms.",
            edit=("[weight / largest for weight in weights]", "[math.log(weight) for weight in weights if weight > 0]"),
        ),
        Slip(
            "That is the share: with means above and below the number of weights is lost.",
            edit=("for share in shares)", "for share in shares) / len(shares)"),
        ),
        Slip(
            "The denominator is the sum of squares, not the largest weight.",
            edit=(" ** 2 / math.fsum(share * share for share in shares)", ""),
        ),
        Slip(
            "That is right for weights that sum to 1: the numerator is the square of their sum.",
            edit=(
                "math.fsum(shares) ** 2 / math.fsum(share * share for share in shares)",
                "1 / math.fsum(weight * weight for weight in weights)",
            ),
        ),
        Slip(
            "Where no weight is positive the answer is 0: do not divide.",
            edit=("    if largest == 0:\n        return 0.0\n", ""),
        ),
    ),
    rights=(
        Right("sums and dot products", program=size_by_a_library),
        Right("one over the sum of squared shares", program=size_by_shares),
    ),
    promises=(
        Promise("0 where no weight is positive", edit=("        return 0.0\n", "        return float(len(weights))\n")),
    ),
)

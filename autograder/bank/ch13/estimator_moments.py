"""Chapter 13: ``estimator_moments``, KL estimators."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch13.shared import distribution
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _two_distributions(rng: Random, size: int, zeros: int = 0) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Drawn again where all estimates are alike: their variance would be 0 but for rounding."""
    while True:
        p, q = distribution(rng, size, zeros), distribution(rng, size)
        lengths = [abs(math.log(a / b)) for a, b in zip(p, q, strict=True) if a]
        if max(lengths) > 1.01 * min(lengths):
            return p, q


def _pair(rng: Random) -> Case:
    return Case((*_two_distributions(rng, rng.randint(2, 20)), rng.choice(("k1", "k2", "k3"))))


def _each(rng: Random) -> list[Case]:
    p, q = _two_distributions(rng, rng.randint(2, 6))
    nearly = Case(((0.25, 0.75 - 4e-7), (0.25, 0.75 - 4e-7), "k1"))  # a sum may be off by up to 1e-6
    return [nearly, *(Case((p, q, name)) for name in ("k1", "k2", "k3"))]


def _never_drawn(rng: Random) -> Case:
    size = rng.randint(3, 8)
    return Case((*_two_distributions(rng, size, rng.randint(1, size - 2)), rng.choice(("k1", "k2", "k3"))))


def moments_by_a_library(p, q, estimator):
    import numpy

    from solutions.ch13 import kl

    kl.estimator_moments(p, q, estimator)  # refuses what must be refused
    weights, others = (numpy.array(row, dtype=float) for row in (p, q))
    weights, others = weights[weights > 0], others[weights > 0]
    gaps = numpy.log(weights / others)
    values = {"k1": gaps, "k2": gaps**2 / 2, "k3": others / weights - 1 + gaps}[estimator]
    mean = numpy.average(values, weights=weights)
    return float(mean), float(numpy.average((values - mean) ** 2, weights=weights))


EXERCISE = Build(
    "13 kl.estimator_moments",
    section="13.15",
    topic="KL estimators",
    bonus=True,
    cases=(
        Case(((0.5, 0.3, 0.2), (0.4, 0.4, 0.2), "k1")),
        Case(((0.5, 0.3, 0.2), (0.4, 0.4, 0.2), "k2")),
        Case(((0.5, 0.3, 0.2), (0.4, 0.4, 0.2), "k3")),
        Case(((0.9, 0.05, 0.05), (1 / 3, 1 / 3, 1 / 3), "k3")),
        Case(((0.2, 0.8), (0.2, 0.8), "k1")),
        Case(((0.0, 0.5, 0.5), (0.5, 0.25, 0.25), "k1")),
    ),
    groups=(
        Group("distributions", _pair, 8, "Each outcome's estimate has the weight with which p draws it.", _each),
        Group("outcomes that are never drawn", _never_drawn, 4, "What p never draws has no part in a mean over draws."),
    ),
    slips=(
        Slip(
            "The samples come from p: its probabilities weigh.",
            edits=(
                ("a * value for (a, _)", "b * value for (_, b)"),
                ("a * (value - mean) ** 2 for (a, _)", "b * (value - mean) ** 2 for (_, b)"),
            ),
        ),
        Slip(
            "A plain mean over the outcomes: samples come from p, so its probabilities weigh.",
            edits=(
                (
                    "math.fsum(a * value for (a, _), value in zip(drawn, values, strict=True))",
                    "math.fsum(values) / len(values)",
                ),
                (
                    "math.fsum(a * (value - mean) ** 2 for (a, _), value in zip(drawn, values, strict=True))",
                    "math.fsum((value - mean) ** 2 for value in values) / len(values)",
                ),
            ),
        ),
        Slip(
            "That is the mean of the squares: subtract the square of the mean.",
            edit=("(value - mean) ** 2", "value**2"),
        ),
        Slip(
            "d has the wrong sign: it is log p - log q.",
            edit=("kl_estimates(math.log(a), math.log(b))", "kl_estimates(math.log(b), math.log(a))"),
        ),
        Slip(
            "That is the standard deviation: the variance is asked for.",
            edit=(
                "return mean, math.fsum(a * (value - mean) ** 2 for (a, _), value in zip(drawn, values, strict=True))",
                "return mean, math.sqrt(math.fsum(a * (value - mean) ** 2 for (a, _), value in zip(drawn, "
                "values, strict=True)))",
            ),
        ),
        Slip(
            "Outcomes that p never draws were counted.",
            edit=(
                "[(a, b) for a, b in zip(p, q, strict=True) if a > 0]",
                "[(a or 1e-2, b or 1e-2) for a, b in zip(p, q, strict=True)]",
            ),
        ),
    ),
    rights=(
        Right("a library's weighted averages", program=moments_by_a_library),
        Right(
            "mean of the squares less the square of the mean, exact sums",
            edit=("a * (value - mean) ** 2 for", "a * (value * value - mean * value) for"),
        ),
    ),
    promises=(
        Promise(
            "exactly, over all outcomes",
            edit=("for a, b in zip(p, q, strict=True) if a > 0]", "for a, b in zip(p[:64], q) if a > 0.05]"),
        ),
        Promise(
            "Outcomes of probability 0 are never drawn",
            edit=(
                "[(a, b) for a, b in zip(p, q, strict=True) if a > 0]",
                "[(a or 1e-3, b) for a, b in zip(p, q, strict=True)]",
            ),
        ),
    ),
)

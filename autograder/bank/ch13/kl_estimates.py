"""Chapter 13: ``kl_estimates``, KL estimators."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


def _log(rng: Random) -> float:
    return round(rng.uniform(-12, 0), 3)


def _sample(rng: Random) -> Case:
    return Case((_log(rng), _log(rng)))


def _tiny(rng: Random) -> Case:
    log_p = round(rng.uniform(-3, -0.5), 3)
    return Case((log_p, log_p + rng.choice((-1, 1)) * rng.uniform(2, 9) * 10 ** -rng.uniform(7, 8)))


def estimates_by_a_series(log_p, log_q):
    from solutions.ch13.kl import KLEstimates, kl_estimates

    found = kl_estimates(log_p, log_q)  # refuses what must be refused
    d, term, total = found.k1, 1.0, 0.0
    if abs(d) > 0.5:
        return KLEstimates(d, 0.5 * d**2, math.exp(log_q - log_p) - 1.0 + d)
    for k in range(1, 30):
        term *= -d / k
        total += term if k > 1 else 0.0
    return KLEstimates(d, 0.5 * d**2, total)


EXERCISE = Build(
    "13 kl.kl_estimates",
    section="13.15",
    topic="KL estimators",
    bonus=True,
    tolerance=1e-6,
    cases=(
        Case((-1.2, -1.0)),
        Case((-0.8, -1.0)),
        Case((-2.0, -1.0)),
        Case((-3.0, -0.1)),
        Case((-0.7, -0.7)),
        Case((-1.0, -1.00000003)),
    ),
    groups=(
        Group("samples", _sample, 8, "d is the log-probability under p minus that under q; p drew the sample."),
        Group("tiny differences", _tiny, 4, "Near d = 0 the digits of e^-d - 1 cancel: there is a function for that."),
    ),
    slips=(
        Slip(
            "The roles are swapped in k3: it is e^-d - 1 + d for samples of p.",
            edit=("math.expm1(-gap) + gap", "math.expm1(gap) - gap"),
        ),
        Slip(
            "Sampling already weighs by p: k1 is the plain difference.",
            edit=("KLEstimates(gap,", "KLEstimates(math.exp(log_p) * gap,"),
        ),
        Slip(
            "Where d is tiny, exp(-d) - 1 has lost its digits: use expm1.",
            edit=("math.expm1(-gap) + gap", "math.exp(-gap) - 1 + gap"),
        ),
        Slip("k2 is half of the square.", edit=("gap * gap / 2", "gap * gap")),
        Slip("d is log p - log q, not the other way round.", edit=("float(log_p - log_q)", "float(log_q - log_p)")),
        Slip(
            "One sample's k1 may be negative: without its sign it is biased.",
            edit=("return KLEstimates(gap", "return KLEstimates(abs(gap)"),
        ),
    ),
    rights=(
        Right("a series for k3 where d is small", program=estimates_by_a_series),
        Right(
            "1 - e^-d subtracted from d",
            edit=("gap * gap / 2, math.expm1(-gap) + gap", "0.5 * gap**2, gap - -math.expm1(-gap)"),
        ),
    ),
    promises=(Promise("k3 is accurate even where d is tiny", edit=("math.expm1(-gap)", "(math.exp(-gap) - 1)")),),
)

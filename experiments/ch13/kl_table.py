"""Bias and spread of KL estimates: for two normal distributions by quadrature, and from drawn samples.

Standard library only.

>>> row = gaussian_row(0.1)
>>> f"{row.kl:.3f} {row.spread['k1']:.1f} {row.spread['k2']:.2f} {row.spread['k3']:.2f}"
'0.005 20.0 1.42 1.42'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from solutions.ch13.kl import ESTIMATORS, kl_estimates

#: Where the quadrature ends, in standard deviations, and its step.
REACH, STEP = 14.0, 0.005


@dataclass(frozen=True)
class Row:
    """A line of the table: the divergence in nats and, by estimator, bias and standard deviation over it."""

    kl: float
    bias: dict[str, float]
    spread: dict[str, float]


def gaussian_row(distance: float) -> Row:
    """Samples of a normal distribution against one of equal width whose mean is ``distance`` standard deviations away.

    Args:
        distance: not 0.

    Source: the table of Schulman (2020), http://joschu.net/blog/kl-approx.html.
    """
    kl = distance * distance / 2
    steps = round(2 * REACH / STEP)
    places = [-REACH + STEP * step for step in range(steps + 1)]
    weights = [STEP * math.exp(-x * x / 2) / math.sqrt(2 * math.pi) for x in places]
    estimates = [kl_estimates(-x * x / 2, -((x - distance) ** 2) / 2) for x in places]
    bias, spread = {}, {}
    for name in ESTIMATORS:
        values = [getattr(estimate, name) for estimate in estimates]
        mean = math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
        variance = math.fsum(weight * (value - mean) ** 2 for weight, value in zip(weights, values, strict=True))
        bias[name], spread[name] = (mean - kl) / kl, math.sqrt(variance) / kl
    return Row(kl, bias, spread)


def sampled_moments(
    p: Sequence[float], q: Sequence[float], samples: int, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Mean and variance of each estimator over drawn samples of p.

    Args:
        p: probabilities of the distribution to draw from.
        q: of the same outcomes, positive where p is.
        samples: at least 1.
        seed: of the draws.
    """
    drawn = Random(seed).choices(range(len(p)), p, k=samples)
    each = [kl_estimates(math.log(a), math.log(b)) if a > 0 else None for a, b in zip(p, q, strict=True)]
    moments = {}
    for name in ESTIMATORS:
        values = [getattr(each[outcome], name) for outcome in drawn]
        mean = math.fsum(values) / samples
        moments[name] = mean, math.fsum((value - mean) ** 2 for value in values) / samples
    return moments

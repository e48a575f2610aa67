"""How to spend a training budget: the loss along an iso-FLOP curve, and where it is lowest. Standard library only.

>>> from rankzero.facts.scaling_laws import BESIROGLU
>>> parameters, tokens = best_split(BESIROGLU, 5.76e23)
>>> round(tokens / parameters, 1)
18.4
"""

from __future__ import annotations

import math

from rankzero import checks
from rankzero.facts.scaling_laws import LossFit


def fitted_loss(fit: LossFit, parameters: float, tokens: float) -> float:
    """The loss that a fit predicts for a model of this many parameters after this many tokens, in nats per token.

    Args:
        fit: the five fitted numbers.
        parameters: positive.
        tokens: of training text; positive.
    """
    checks.positive(parameters=parameters, tokens=tokens)
    return fit.floor + fit.a / parameters**fit.alpha + fit.b / tokens**fit.beta


def best_split(fit: LossFit, flops: float) -> tuple[float, float]:
    """The parameters and tokens with the lowest predicted loss for a budget of ``6 * parameters * tokens``.

    The derivative along the curve is zero where ``alpha a / parameters**alpha == beta b / tokens**beta``.

    Args:
        fit: the five fitted numbers.
        flops: FLOP of the whole run; positive.

    Source: Hoffmann et al. (2022), arXiv:2203.15556, equation 4.
    """
    checks.positive(flops=flops)
    product, total = flops / 6, fit.alpha + fit.beta
    scale = (fit.alpha * fit.a / (fit.beta * fit.b)) ** (1 / total)
    parameters = scale * product ** (fit.beta / total)
    return parameters, product / parameters


def loss_along_budget(
    fit: LossFit, flops: float, low: float = 1.0, high: float = 1000.0, points: int = 61
) -> list[tuple[float, float]]:
    """The predicted loss at equal cost, for models with more or fewer tokens per parameter.

    Args:
        fit: the five fitted numbers.
        flops: FLOP of the whole run; positive.
        low, high: tokens per parameter at the ends of the curve; positive, ``low`` below ``high``.
        points: on the curve, evenly spaced in their logarithm; at least 2.

    Returns:
        ``(tokens per parameter, loss in nats per token)``.
    """
    checks.positive(flops=flops, low=low, high=high)
    checks.require(low < high, f"be above low = {low}", high=high)
    checks.count(2, points=points)
    ratios = [low * (high / low) ** (step / (points - 1)) for step in range(points)]
    sizes = [math.sqrt(flops / (6 * ratio)) for ratio in ratios]
    return [(ratio, fitted_loss(fit, size, ratio * size)) for ratio, size in zip(ratios, sizes, strict=True)]

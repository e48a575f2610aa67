"""The Kullback-Leibler divergence estimated from samples, and its gradient in the loss and in the reward. Standard
library.

Here p is the policy, from which samples are drawn, and q the reference; logarithms are natural, so units are nats.

>>> kl_estimates(-1.0, -1.0)
KLEstimates(k1=0.0, k2=0.0, k3=0.0)
>>> [round(share, 6) for share in tilted_policy((0.6, 0.3, 0.1), (0, 1, 2), 1.0)]
[0.278501, 0.378522, 0.342977]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: How far the sum of a distribution may be from 1.
SLACK = 1e-6

ESTIMATORS = ("k1", "k2", "k3")
PLACEMENTS = ("reward", "loss")


@dataclass(frozen=True)
class KLEstimates:
    """Three estimates of KL(p||q) from one sample, in nats: ``k1``, ``k2`` and ``k3``."""

    k1: float
    k2: float
    k3: float


def kl_estimates(log_p: float, log_q: float) -> KLEstimates:
    """Estimates of KL(p||q) from one sample of p: with ``d = log_p - log_q``, k1 is d, k2 is d^2/2, k3 is e^-d - 1 + d.

    k3 is accurate even where d is tiny.

    Args:
        log_p: log-probability of the sample under p, from which it was drawn; finite.
        log_q: its log-probability under q; finite.

    Raises:
        ValueError: an argument is not finite; the message names it and its value.
        OverflowError: ``log_q`` is more than 709 above ``log_p``, so that no float holds k3.

    Source: Schulman (2020), http://joschu.net/blog/kl-approx.html.
    """
    for name, value in (("log_p", log_p), ("log_q", log_q)):
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value!r}")
    gap = float(log_p - log_q)
    return KLEstimates(gap, gap * gap / 2, math.expm1(-gap) + gap)


def estimator_moments(p: Sequence[float], q: Sequence[float], estimator: str) -> tuple[float, float]:
    """Mean and variance of one sample's estimate of KL(p||q), exactly, over all outcomes.

    Args:
        p: probabilities of the outcomes, from which samples are drawn. Outcomes of probability 0 are never drawn.
        q: probabilities of the same outcomes under the reference, > 0 wherever that of p is.
        estimator: ``"k1"``, ``"k2"`` or ``"k3"``.

    Raises:
        ValueError: an unknown estimator, lengths that differ or are 0, an entry that is negative or not finite, a sum
            that is more than 1e-6 away from 1, or a q that is 0 where p is not.

    Source: Schulman (2020), http://joschu.net/blog/kl-approx.html.
    """
    _check_name("estimator", estimator, ESTIMATORS)
    _check_distribution("p", p)
    _check_distribution("q", q)
    _check_lengths("p", p, "q", q)
    drawn = [(a, b) for a, b in zip(p, q, strict=True) if a > 0]
    if not all(b > 0 for _, b in drawn):
        raise ValueError("q must be > 0 wherever p is: KL(p||q) is infinite otherwise")
    values = [getattr(kl_estimates(math.log(a), math.log(b)), estimator) for a, b in drawn]
    mean = math.fsum(a * value for (a, _), value in zip(drawn, values, strict=True))
    return mean, math.fsum(a * (value - mean) ** 2 for (a, _), value in zip(drawn, values, strict=True))


def expected_kl_gradient(
    logits: Sequence[float], reference_logits: Sequence[float], estimator: str, placement: str
) -> list[float]:
    """Expected gradient of a KL term with respect to the logits of the policy, a softmax that samples are drawn from.

    No gradient passes through the sampling. As a ``loss`` the estimate itself is differentiated through the policy's
    log-probability: E[dk/dlog p * grad log p]. In the ``reward`` it is a constant that multiplies the score:
    E[k * grad log p], the opposite of the direction of ascent on the reward ``-k``.

    Args:
        logits: of the policy, one for each outcome, of which there is at least one; finite.
        reference_logits: of the reference; as many, finite.
        estimator: ``"k1"``, ``"k2"`` or ``"k3"``, as :func:`kl_estimates` has them.
        placement: ``"loss"`` or ``"reward"``.

    Returns:
        One number for each logit; they sum to 0.

    Raises:
        ValueError: an unknown name, lengths that differ or are 0, or a logit that is not finite.

    Source: Schulman (2020), http://joschu.net/blog/kl-approx.html; Tang and Munos (2025), arXiv:2506.09477.
    """
    _check_name("estimator", estimator, ESTIMATORS)
    _check_name("placement", placement, PLACEMENTS)
    _check_lengths("logits", logits, "reference_logits", reference_logits)
    log_p, log_q = _log_softmax("logits", logits), _log_softmax("reference_logits", reference_logits)
    weights = []
    for a, b in zip(log_p, log_q, strict=True):
        if placement == "reward":
            weights.append(getattr(kl_estimates(a, b), estimator))
        else:
            weights.append({"k1": 1.0, "k2": a - b, "k3": -math.expm1(b - a)}[estimator])
    policy = [math.exp(a) for a in log_p]
    mean = math.fsum(share * weight for share, weight in zip(policy, weights, strict=True)) / math.fsum(policy)
    return [share * (weight - mean) for share, weight in zip(policy, weights, strict=True)]


def tilted_policy(reference: Sequence[float], rewards: Sequence[float], beta: float) -> list[float]:
    """The policy that maximises ``E[reward] - beta KL(policy||reference)``: ``reference e^(reward/beta)``, normalised.

    Args:
        reference: probabilities of the outcomes. An outcome of probability 0 keeps it, whatever its reward.
        rewards: of the same outcomes; finite.
        beta: price of a nat; positive. However small, nothing overflows.

    Raises:
        ValueError: lengths differ or are 0, an entry of ``reference`` is negative or not finite, its sum is more than
            1e-6 away from 1, or another argument is out of range.

    Source: Korbak et al. (2022), arXiv:2205.11275, section 3; Rafailov et al. (2023), arXiv:2305.18290, equation 4.
    """
    _check_distribution("reference", reference)
    _check_lengths("reference", reference, "rewards", rewards)
    if not all(map(math.isfinite, rewards)):
        raise ValueError(f"rewards must be finite, got {rewards!r}")
    if not 0 < beta < math.inf:
        raise ValueError(f"beta must be a finite number > 0, got {beta!r}")
    best = max(reward for share, reward in zip(reference, rewards, strict=True) if share > 0)
    weights = [
        share * math.exp((reward - best) / beta) if share > 0 else 0.0
        for share, reward in zip(reference, rewards, strict=True)
    ]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def _log_softmax(name: str, logits: Sequence[float]) -> list[float]:
    if not all(map(math.isfinite, logits)):
        raise ValueError(f"{name} must be finite, got {logits!r}")
    top = max(logits)
    norm = top + math.log(math.fsum(math.exp(value - top) for value in logits))
    return [value - norm for value in logits]


def _check_name(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}, got {name!r}")


def _check_lengths(one: str, left: Sequence[float], other: str, right: Sequence[float]) -> None:
    if len(left) != len(right) or not left:
        raise ValueError(f"{one} and {other} must have as many entries, 1 or more, got {len(left)} and {len(right)}")


def _check_distribution(name: str, row: Sequence[float]) -> None:
    if not row or not all(0 <= value < math.inf for value in row):
        raise ValueError(f"{name} must hold finite numbers >= 0, at least one, got {row!r}")
    if not abs(math.fsum(row) - 1) <= SLACK:
        raise ValueError(f"{name} must sum to 1, got {math.fsum(row)!r}")

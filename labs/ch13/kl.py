# Generated from solutions/ch13/kl.py by make stubs. Write the bodies; names and signatures stay.
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

from rankzero import checks

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
        log_q: its log-probability under q; finite. If it is more than 709 above ``log_p``, no float holds k3.

    Source: Schulman (2020), http://joschu.net/blog/kl-approx.html.
    """
    checks.finite(log_p=log_p, log_q=log_q)
    raise NotImplementedError("13-kl-estimates: not written yet")


def estimator_moments(p: Sequence[float], q: Sequence[float], estimator: str) -> tuple[float, float]:
    """Mean and variance of one sample's estimate of KL(p||q), exactly, over all outcomes.

    Args:
        p: probabilities of the outcomes, from which samples are drawn; they sum to 1. Outcomes of probability 0 are
            never drawn.
        q: probabilities of the same outcomes under the reference, which sum to 1, > 0 wherever that of p is.
        estimator: ``"k1"``, ``"k2"`` or ``"k3"``.

    Source: Schulman (2020), http://joschu.net/blog/kl-approx.html.
    """
    checks.one_of(ESTIMATORS, estimator=estimator)
    _check_distribution(p=p, q=q)
    checks.require(len(q) == len(p), "be as long as p", q=q)
    checks.require(all(q[i] > 0 for i in range(len(p)) if p[i] > 0), "be > 0 where p is", q=q)
    raise NotImplementedError("13-estimator-moments: not written yet")


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

    Source: Schulman (2020), http://joschu.net/blog/kl-approx.html; Tang and Munos (2025), arXiv:2506.09477.
    """
    checks.one_of(ESTIMATORS, estimator=estimator)
    checks.one_of(PLACEMENTS, placement=placement)
    checks.finite(logits=logits, reference_logits=reference_logits)
    alike = len(logits) == len(reference_logits) > 0
    checks.require(alike, "be as long as reference_logits", logits=logits)
    raise NotImplementedError("13-expected-kl-gradient: not written yet")


def tilted_policy(reference: Sequence[float], rewards: Sequence[float], beta: float) -> list[float]:
    """The policy that maximizes ``E[reward] - beta KL(policy||reference)``: ``reference e^(reward/beta)``, normalized.

    Args:
        reference: probabilities of the outcomes; they sum to 1. An outcome of probability 0 keeps it, whatever its
            reward.
        rewards: of the same outcomes; finite.
        beta: price of a nat; positive. However small, nothing overflows.

    Source: Korbak et al. (2022), arXiv:2205.11275, section 3; Rafailov et al. (2023), arXiv:2305.18290, equation 4.
    """
    _check_distribution(reference=reference)
    checks.finite(rewards=rewards)
    checks.require(len(rewards) == len(reference), "be as long as reference", rewards=rewards)
    checks.positive(beta=beta)
    raise NotImplementedError("13-tilted-policy: not written yet")


def _check_distribution(**rows: Sequence[float]) -> None:
    """Each holds probabilities: finite numbers >= 0 that sum to 1."""
    for name, row in rows.items():
        checks.amount(**{name: row})
        checks.require(abs(math.fsum(row) - 1) <= SLACK, "sum to 1", **{name: row})

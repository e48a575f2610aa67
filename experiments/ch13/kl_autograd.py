"""Gradients of KL terms without a formula: every outcome is enumerated, and autograd differentiates."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from solutions.ch13.kl import PLACEMENTS


def divergence_gradients(logits: Sequence[float], reference_logits: Sequence[float]) -> dict[str, list[float]]:
    """Gradients of both divergences with respect to the policy's logits, by name: their directions differ."""
    policy, reference = _leaf(logits), torch.tensor(reference_logits, dtype=torch.float64).log_softmax(-1)
    log_p = policy.log_softmax(-1)
    terms = {
        "KL(policy||reference)": (log_p.exp() * (log_p - reference)).sum(),
        "KL(reference||policy)": (reference.exp() * (reference - log_p)).sum(),
    }
    return {name: torch.autograd.grad(term, policy, retain_graph=True)[0].tolist() for name, term in terms.items()}


def placed_gradient(
    logits: Sequence[float], reference_logits: Sequence[float], estimator: str, placement: str
) -> list[float]:
    """The expected gradient of a program that samples: each outcome is weighted by its probability, without a gradient.

    Args:
        logits: of the policy.
        reference_logits: of the reference.
        estimator: ``"k1"``, ``"k2"`` or ``"k3"``.
        placement: ``"loss"``: the estimate carries the gradient; ``"reward"``: it is detached and weighs the score.
    """
    assert placement in PLACEMENTS, placement
    policy, reference = _leaf(logits), torch.tensor(reference_logits, dtype=torch.float64).log_softmax(-1)
    log_p = policy.log_softmax(-1)
    gap = log_p - reference
    estimate = {"k1": gap, "k2": gap.square() / 2, "k3": torch.expm1(-gap) + gap}[estimator]
    surrogate = estimate if placement == "loss" else estimate.detach() * log_p
    return torch.autograd.grad((log_p.exp().detach() * surrogate).sum(), policy)[0].tolist()


def _leaf(values: Sequence[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)

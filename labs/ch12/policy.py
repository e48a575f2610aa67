# Generated from solutions/ch12/policy.py by make stubs. Write the bodies; names and signatures stay.
"""Policy gradients on tensors: the loss of REINFORCE, the loss of PPO, and the updates of one PPO iteration.

>>> kept = torch.ones(1, 2)
>>> reinforce_loss(torch.tensor([[-0.5, -1.0]]), torch.tensor([[2.0, 1.0]]), kept)
tensor(2.)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from rankzero import checks

#: Added to a standard deviation before something is divided by it.
TINY = 1e-8


@dataclass(frozen=True)
class Batch:
    """N steps that were taken, in any order; every tensor has N rows.

    Attributes:
        observations: what the policy saw, [N, ...].
        actions: that it took, [N], integers.
        old_log_probs: the log-probability that the action had when it was taken, [N].
        advantages: how much better than expected it was, [N].
        returns: what the critic should have predicted, [N].
    """

    observations: Tensor
    actions: Tensor
    old_log_probs: Tensor
    advantages: Tensor
    returns: Tensor

    def rows(self, index: Tensor) -> Self:
        """The steps at these places."""
        return type(self)(*(part[index] for part in vars(self).values()))


@dataclass(frozen=True)
class PpoStats:
    """What a PPO loss is made of, and how far the policy has moved; plain numbers.

    Attributes:
        policy: minus the clipped objective.
        value: mean squared error of the critic, without its weight.
        entropy: mean entropy of the policy, natural units.
        outside_fraction: share of samples whose ratio is further than ``clip`` from 1.
        clipped_fraction: share of samples whose clipped term is smaller than the other, so that they have no gradient.
        approx_kl: mean of ``ratio - 1 - ln ratio``.
    """

    policy: float
    value: float
    entropy: float
    outside_fraction: float
    clipped_fraction: float
    approx_kl: float


def reinforce_loss(log_probs: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
    """What REINFORCE minimizes: minus the weighted log-probabilities of an episode, as a mean over episodes.

    Args:
        log_probs: of the actions that were taken, [B, T], one episode a row.
        weights: what each action has earned, [B, T]: a return, perhaps minus a baseline. No gradient flows into them.
        mask: 1 (or True) where the episode has a step, 0 behind its end, [B, T]; not 0 everywhere.

    Returns:
        A number, shape [].

    Source: Williams (1992), doi:10.1007/BF00992696; Sutton and Barto (2018), section 13.3.
    """
    shapes = [tuple(part.shape) for part in (log_probs, weights, mask)]
    checks.require(log_probs.dim() == 2, "be [B, T]", log_probs=shapes[0])
    checks.require(len(set(shapes)) == 1, "be equal", shapes=shapes)
    checks.require(bool(mask.any()), "have a 1 somewhere", mask=mask)
    raise NotImplementedError("12-reinforce-loss: not written yet")


def ppo_loss(
    logits: Tensor,
    values: Tensor,
    batch: Batch,
    clip: float = 0.2,
    value_weight: float = 0.5,
    entropy_weight: float = 0.0,
    normalize: bool = True,
) -> tuple[Tensor, PpoStats]:
    """What PPO minimizes: ``policy + value_weight * value - entropy_weight * entropy``, means over the batch.

    ``policy`` is minus the mean of ``min(ratio A, clip(ratio, 1 - clip, 1 + clip) A)``, ``value`` the mean of
    ``(V - R)^2``. Gradients flow into ``logits`` and ``values`` and into nothing else.

    Args:
        logits: of the policy as it is now, [N, K], for K actions.
        values: of the critic as it is now, [N].
        batch: the N steps, 1 or more, and 2 or more to normalize; its observations are not used.
        clip: epsilon; positive.
        value_weight: of the critic's error; finite.
        entropy_weight: of the policy's entropy, which the loss rewards; finite.
        normalize: first subtract the mean of this batch's advantages and divide by their sample standard deviation plus
            1e-8: equal advantages become 0.

    Returns:
        The loss, shape [], and what it is made of.

    Source: Schulman et al. (2017), arXiv:1707.06347, equations 7 and 9.
    """
    checks.positive(clip=clip)
    checks.finite(value_weight=value_weight, entropy_weight=entropy_weight)
    rows = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    shapes, steps = [tuple(part.shape) for part in rows], len(logits)
    checks.require(set(shapes) == {(steps,)}, f"be [{steps}] each", shapes=shapes)
    checks.require(steps >= 1 + normalize, f"be at least {1 + normalize}", steps=steps)
    raise NotImplementedError("12-ppo-loss: not written yet")


def ppo_update(
    policy: nn.Module,
    value: nn.Module,
    optimizer: torch.optim.Optimizer,
    batch: Batch,
    minibatches: Iterable[Tensor],
    clip: float,
    value_weight: float = 0.5,
    entropy_weight: float = 0.0,
    max_grad_norm: float | None = None,
) -> list[PpoStats]:
    """Improve actor and critic on one batch: an optimizer step on ``ppo_loss`` for each minibatch, in the given order.

    Gradients that are left over from before the call do not count.

    Args:
        policy: observations [n, ...] to logits [n, K].
        value: observations [n, ...] to values, [n] or [n, 1].
        optimizer: of the parameters of both.
        batch: the steps, as the policy took them before this call.
        minibatches: the rows of each minibatch, index tensors [n]; for several epochs each row is in several of them.
            They can be iterated over once.
        clip: epsilon; positive.
        value_weight: of the critic's error; finite.
        entropy_weight: of the policy's entropy; finite.
        max_grad_norm: the largest norm of all gradients of the optimizer's parameters together; None for no limit.

    Returns:
        What the loss of each step was made of, before that step.

    Source: Schulman et al. (2017), arXiv:1707.06347, algorithm 1.
    """
    checks.positive(clip=clip)
    checks.finite(value_weight=value_weight, entropy_weight=entropy_weight)
    raise NotImplementedError("12-ppo-update: not written yet")

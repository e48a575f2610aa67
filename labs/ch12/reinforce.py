# Generated from solutions/ch12/reinforce.py by make stubs. Write the bodies; names and signatures stay.
"""REINFORCE as a program: from whole episodes to a step of the policy, with a value network or without.

>>> policy = torch.nn.Linear(1, 2, bias=False)
>>> optimizer = torch.optim.SGD(policy.parameters(), 0.1)
>>> seen, done = torch.zeros(1, 2, 1), torch.zeros(1, 2, dtype=torch.long)
>>> error = reinforce_update(policy, optimizer, seen, done, torch.ones(1, 2), torch.ones(1, 2))
>>> error
2.5
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankzero import checks


def reinforce_update(
    policy: nn.Module,
    optimizer: torch.optim.Optimizer,
    observations: Tensor,
    actions: Tensor,
    rewards: Tensor,
    mask: Tensor,
    discount: float = 1.0,
    value: nn.Module | None = None,
    value_optimizer: torch.optim.Optimizer | None = None,
    value_steps: int = 1,
) -> float:
    """One step of REINFORCE on a batch of whole episodes; with a value network, its expectation is the baseline.

    The loss of the policy is minus the mean over episodes of the sum of log-probability times weight. The weight of an
    action is the return from its step on, minus what the value network says of the state, if there is one. After the
    step of the policy, the value network takes ``value_steps`` steps towards the returns, on the mean squared error
    over all real steps. Gradients that are left over from before the call do not count.

    Args:
        policy: observations [n, ...] to logits [n, K].
        optimizer: of the policy's parameters.
        observations: what the policy saw, [B, T, ...], one episode a row.
        actions: that it took, integers [B, T].
        rewards: of each step, [B, T].
        mask: 1 (or True) where the episode has a step, 0 behind its end, [B, T]; not 0 everywhere. Where it is 0, the
            others may hold anything, nan too.
        discount: gamma, from 0 to 1.
        value: observations [n, ...] to values, [n] or [n, 1]; None for no baseline.
        value_optimizer: of the value network's parameters; None without one.
        value_steps: of the value network; at least 1.

    Returns:
        The mean squared error of the value network over the real steps, before the call; without one, that of 0.

    Source: Williams (1992), doi:10.1007/BF00992696; Sutton and Barto (2018), section 13.4.
    """
    checks.between(0, 1, discount=discount)
    checks.count(value_steps=value_steps)
    shapes = [tuple(part.shape[:2]) for part in (observations, actions, rewards, mask)]
    checks.require(mask.dim() == 2 and len(set(shapes)) == 1, "be [B, T] each", shapes=shapes)
    checks.require(bool(mask.any()), "have a 1 somewhere", mask=mask)
    both = (value is None) == (value_optimizer is None)
    checks.require(both, "come with a value network, and only with one", value_optimizer=value_optimizer)
    raise NotImplementedError("12-reinforce-update: not written yet")

# Generated from solutions/ch12/policy_repairs.py by make stubs. Write the bodies; names and signatures stay.
"""A training loop and a loss of chapter 12, each of which came with one call missing."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from rankzero import checks


def debug_zero_grad(
    policy: nn.Module, optimizer: torch.optim.Optimizer, episodes: Iterable[tuple[Tensor, Tensor, Tensor]]
) -> list[float]:
    """REINFORCE with one optimizer step for each episode, by the gradient of that episode alone.

    Args:
        policy: observations [T, ...] to logits [T, K].
        optimizer: of the policy's parameters.
        episodes: observations [T, ...], actions [T] and weights [T] of each.

    Returns:
        The loss of each episode before its step: minus the sum of weight times log-probability.
    """
    losses = []
    for observations, actions, weights in episodes:
        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def debug_detach(
    log_probs: Tensor, values: Tensor, next_values: Tensor, rewards: Tensor, terminated: Tensor, discount: float
) -> Tensor:
    """The joint loss of an actor and a critic: ``mean(-log_prob * error) + 0.5 * mean(error^2)``.

    The error is the TD error. The actor's term moves the actor alone: into ``values`` flows only the gradient of the
    second term, into ``next_values`` none.

    Args:
        log_probs: of the actions that were taken, [T].
        values: V of the states, [T].
        next_values: V of the states that were reached, [T].
        rewards: [T].
        terminated: where the episode ended, [T], booleans.
        discount: gamma, from 0 to 1.

    Returns:
        A number, shape [].
    """
    checks.between(0, 1, discount=discount)
    targets = rewards + discount * next_values.detach() * ~terminated
    errors = targets - values
    actor = -(log_probs * errors).mean()
    critic = errors.square().mean()
    return actor + 0.5 * critic

"""CartPole on gymnasium's vector environments: networks, play, whole episodes, evaluation.

>>> policy, _ = networks(seed=0)
>>> 9 < mean_return(policy, count=20, seed=0) < 60
True

A state is four numbers: position and velocity of the cart, angle and angular velocity of the pole. Every step is worth
1. An episode ends when the pole or the cart has gone too far, and is cut off after 500 steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn

#: Steps after which an episode is cut off.
LIMIT = 500

#: CartPole counts as solved from this mean return of 100 episodes on.
SOLVED = 475.0


def networks(seed: int, width: int = 64) -> tuple[nn.Sequential, nn.Sequential]:
    """An actor (4 numbers to 2 logits) and a critic (4 numbers to a value), with orthogonal weights.

    The actor's last layer has small weights, so that its first policy is nearly uniform.
    """
    generator = torch.Generator().manual_seed(seed)
    return _network(2, 0.01, width, generator), _network(1, 1.0, width, generator)


def _network(outputs: int, gain: float, width: int, generator: torch.Generator) -> nn.Sequential:
    layers = [
        nn.Linear(4, width, device="meta"),
        nn.Linear(width, width, device="meta"),
        nn.Linear(width, outputs, device="meta"),
    ]
    for layer, size in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        layer.to_empty(device="cpu")
        nn.init.orthogonal_(layer.weight, size, generator=generator)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


def steady() -> nn.Linear:
    """A policy written by hand that hardly ever falls: push towards where the pole leans and moves."""
    policy = nn.Linear(4, 2, bias=False)
    with torch.no_grad():
        policy.weight.copy_(torch.tensor([[0.0] * 4, [10.0, 20.0, 200.0, 40.0]]))
    return policy


def drawn(policy: nn.Module, observations: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """An action for each observation, drawn from the policy, and its log-probability."""
    with torch.no_grad():
        log_probs = policy(observations).log_softmax(-1)
    actions = torch.multinomial(log_probs.exp(), 1, generator=generator)
    return actions.squeeze(1), log_probs.gather(1, actions).squeeze(1)


# A rollout: a fixed number of steps, across the ends of episodes.


@dataclass(frozen=True)
class Rollout:
    """T steps in each of E environments.

    Attributes:
        observations: what the policy saw, [T, E, 4].
        reached: what each step led to, before any reset, [T, E, 4].
        actions: [T, E], integers.
        log_probs: of the actions when they were taken, [T, E].
        rewards: [T, E].
        terminated: where the pole or the cart had gone too far, [T, E], booleans; wins over ``truncated``.
        truncated: where an episode was cut off, [T, E], booleans.
        returns: of the episodes that ended, in the order of their ends.
    """

    observations: Tensor
    reached: Tensor
    actions: Tensor
    log_probs: Tensor
    rewards: Tensor
    terminated: Tensor
    truncated: Tensor
    returns: tuple[float, ...]


class Game:
    """Environments side by side; one whose episode ends is reset in the same step, and the last state is kept."""

    def __init__(self, environments: int, seed: int, limit: int = LIMIT) -> None:
        """``environments`` of them, each cut off after ``limit`` steps."""
        self.vector: Any = gymnasium.make_vec(
            "CartPole-v1",
            num_envs=environments,
            vectorization_mode="sync",
            vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
            max_episode_steps=limit,
        )
        self.observations = torch.from_numpy(self.vector.reset(seed=seed)[0])
        self.generator = torch.Generator().manual_seed(seed)
        self.running = torch.zeros(environments)

    def play(self, policy: nn.Module, steps: int) -> Rollout:
        """Go on for ``steps`` steps in each environment."""
        rows: list[tuple[Tensor, ...]] = []
        returns: list[float] = []
        for _ in range(steps):
            actions, log_probs = drawn(policy, self.observations, self.generator)
            row, ended = self._step(actions)
            rows.append((self.observations, row[0], actions, log_probs, *row[2:]))
            returns += ended
            self.observations = row[1]
        seen, reached, actions, log_probs, rewards, terminated, truncated = (
            torch.stack(column) for column in zip(*rows, strict=True)
        )
        return Rollout(seen, reached, actions, log_probs, rewards, terminated, truncated, tuple(returns))

    def _step(self, actions: Tensor) -> tuple[tuple[Tensor, ...], list[float]]:
        """The states reached, the states to continue from, rewards, both kinds of end, and the returns of ended
        episodes."""
        after, rewards, terminated, truncated, info = self.vector.step(actions.numpy())
        following, over = torch.from_numpy(after), torch.from_numpy(terminated | truncated)
        reached = following.clone()
        for place in over.nonzero().flatten().tolist():
            reached[place] = torch.from_numpy(info["final_obs"][place])
        self.running += torch.from_numpy(rewards).float()
        ended = self.running[over].tolist()
        self.running[over] = 0.0
        kept = (torch.from_numpy(rewards).float(), torch.from_numpy(terminated), torch.from_numpy(truncated))
        return (reached, following, *kept), ended


# Whole episodes.


@dataclass(frozen=True)
class Episodes:
    """B episodes, one in each environment, padded after their ends.

    Attributes:
        observations: [B, T, 4].
        actions: [B, T], integers.
        mask: where an episode has a step, [B, T], booleans. Each step is worth 1.
    """

    observations: Tensor
    actions: Tensor
    mask: Tensor

    @property
    def lengths(self) -> Tensor:
        """Steps of each episode, which is also its return; [B]."""
        return self.mask.sum(1)


def play_episodes(policy: nn.Module, count: int, seed: int, limit: int = LIMIT, greedy: bool = False) -> Episodes:
    """Play ``count`` episodes side by side, each to its end.

    Args:
        policy: observations [n, 4] to logits [n, 2].
        count: episodes.
        seed: of the starts and of the draws.
        limit: steps after which an episode is cut off.
        greedy: take the likelier action instead of drawing one.
    """
    vector: Any = gymnasium.make_vec(
        "CartPole-v1", num_envs=count, vectorization_mode="vector_entry_point", max_episode_steps=limit
    )
    observations, generator = torch.from_numpy(vector.reset(seed=seed)[0]), torch.Generator().manual_seed(seed)
    rows, running = [], torch.ones(count, dtype=torch.bool)
    while running.any():
        actions, _ = drawn(policy, observations, generator)
        if greedy:
            with torch.no_grad():
                actions = policy(observations).argmax(-1)
        after, _, terminated, truncated, _ = vector.step(actions.numpy())
        rows.append((observations, actions, running))
        observations, running = torch.from_numpy(after), running & ~torch.from_numpy(terminated | truncated)
    return Episodes(*(torch.stack(column, 1) for column in zip(*rows, strict=True)))


def mean_return(policy: nn.Module, count: int = 100, seed: int = 1_000_000) -> float:
    """The mean return of fresh episodes; actions are drawn."""
    return play_episodes(policy, count, seed).lengths.double().mean().item()


def states(episodes: Episodes, which: int = 0) -> list[list[float]]:
    """One episode, step by step: position (m), velocity (m/s), angle (rad), angular velocity (rad/s)."""
    return episodes.observations[which][episodes.mask[which]].tolist()

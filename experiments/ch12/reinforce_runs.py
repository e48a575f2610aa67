"""REINFORCE on CartPole with four ways to weight actions, and how far single-episode gradients scatter under each.

>>> curve = learn("value", seed=0, steps=40_000)  # doctest: +SKIP
>>> curve.points[-1]  # doctest: +SKIP
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from rankzero import stored
from rankzero.tiny import one_thread
from solutions.ch12.cartpole_runs import Episodes, networks, play_episodes
from solutions.ch12.policy import reinforce_loss
from solutions.ch12.rl import discounted_returns

#: The weights of an action, each with its label in figures.
KINDS = {
    "episode": "return of the whole episode",
    "to-go": "return from the step on",
    "mean": "the same, minus the mean of the batch",
    "value": "the same, minus a learned V(s)",
}

#: Discount of the returns; with 1 the first two weights have the same mean gradient.
DISCOUNT = 1.0

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
Returns = Callable[[Sequence[float], float], list[float]]


def returns_to_go(episodes: Episodes, returns: Returns = discounted_returns) -> Tensor:
    """The return from each step on, [B, T]; 0 after an episode's end."""
    found = torch.zeros(episodes.mask.shape)
    for row, length in enumerate(episodes.lengths.tolist()):
        found[row, :length] = torch.tensor(returns([1.0] * length, DISCOUNT))
    return found


def weights(
    episodes: Episodes, kind: str, critic: nn.Module | None = None, returns: Returns = discounted_returns
) -> Tensor:
    """The weight of each action, [B, T], by one of ``KINDS``; ``critic`` is needed only for ``"value"``.

    Raises:
        ValueError: there is no such kind, or no critic where one is needed.
    """
    later = returns_to_go(episodes, returns)
    if kind == "episode":
        return later[:, :1].expand_as(later)
    if kind == "to-go":
        return later
    if kind == "mean":
        return later - later[episodes.mask].mean()
    if kind != "value" or critic is None:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, and value needs a critic, got {kind!r}")
    with torch.no_grad():
        return later - critic(episodes.observations).squeeze(-1)


def log_probs(policy: nn.Module, episodes: Episodes) -> Tensor:
    """Log-probabilities of the actions that were taken, [B, T]."""
    return policy(episodes.observations).log_softmax(-1).gather(-1, episodes.actions.unsqueeze(-1)).squeeze(-1)


def fit_critic(
    critic: nn.Module, optimizer: torch.optim.Optimizer, episodes: Episodes, steps: int, returns: Returns
) -> None:
    """Regression of the critic on the returns of these episodes, in place."""
    seen, wanted = episodes.observations[episodes.mask], returns_to_go(episodes, returns)[episodes.mask]
    for _ in range(steps):
        optimizer.zero_grad()
        (critic(seen).squeeze(-1) - wanted).square().mean().backward()
        optimizer.step()


# The scatter of gradients.


@dataclass(frozen=True)
class Scatter:
    """Gradients of single episodes under one weight.

    Attributes:
        variance: summed over all parameters.
        norm: of the mean gradient.
    """

    variance: float
    norm: float


@one_thread()
def scatter(policy: nn.Module, episodes: Episodes, weight: Tensor, loss: Loss = reinforce_loss) -> Scatter:
    """The gradient of each episode on its own, [B, parameters], as mean and total variance."""
    rows = []
    for row, length in enumerate(episodes.lengths.tolist()):
        one = (slice(row, row + 1), slice(0, length))
        alone = Episodes(episodes.observations[one], episodes.actions[one], episodes.mask[one])
        value = loss(log_probs(policy, alone), weight[one], alone.mask)
        parts = torch.autograd.grad(value, list(policy.parameters()))
        rows.append(torch.cat([part.flatten() for part in parts]))
    gradients = torch.stack(rows).double()
    return Scatter(gradients.var(0).sum().item(), gradients.mean(0).norm().item())


@dataclass(frozen=True)
class HalfTrained:
    """A partly trained policy, a critic fitted to it, and fresh episodes that neither was trained on."""

    policy: nn.Sequential
    critic: nn.Sequential
    episodes: Episodes


@one_thread()
def half_trained(seed: int = 1, enough: float = 60.0, count: int = 128) -> HalfTrained:
    """REINFORCE with returns to go until a batch averages ``enough`` steps; then the critic; then fresh episodes."""
    policy, critic = networks(seed)
    for _ in _batches("to-go", policy, critic, seed, 10**6, enough, reinforce_loss, discounted_returns):
        pass
    known = play_episodes(policy, count // 2, seed + 1)
    with torch.no_grad():
        list(critic.parameters())[-1].fill_(returns_to_go(known)[known.mask].mean().item())
    fit_critic(critic, torch.optim.Adam(critic.parameters(), lr=5e-3), known, 200, discounted_returns)
    return HalfTrained(policy, critic, play_episodes(policy, count, seed + 2))


def scatters(
    half: HalfTrained, loss: Loss = reinforce_loss, returns: Returns = discounted_returns
) -> dict[str, Scatter]:
    """The scatter under each of ``KINDS``, over the same episodes."""
    return {
        kind: scatter(half.policy, half.episodes, weights(half.episodes, kind, half.critic, returns), loss)
        for kind in KINDS
    }


# Learning.


@dataclass(frozen=True)
class Curve:
    """A run of REINFORCE.

    Attributes:
        points: after each batch, steps so far and the mean return of the batch.
        seconds: of the whole run.
    """

    points: tuple[tuple[int, float], ...]
    seconds: float


@one_thread()
def learn(
    kind: str,
    seed: int,
    steps: int,
    enough: float = 495.0,
    loss: Loss = reinforce_loss,
    returns: Returns = discounted_returns,
) -> Curve:
    """Train on batches of 16 episodes, with one step of Adam (1e-2) for each; the critic, if any, takes ten.

    Args:
        kind: one of ``KINDS``.
        seed: of networks, starts and draws.
        steps: stop when so many have been played.
        enough: stop when a batch averages this.
        loss: ``reinforce_loss``, or a function like it.
        returns: ``discounted_returns``, or a function like it.
    """
    start = time.perf_counter()
    policy, critic = networks(seed)
    points = tuple(_batches(kind, policy, critic, seed, steps, enough, loss, returns))
    return Curve(points, time.perf_counter() - start)


def _batches(
    kind: str,
    policy: nn.Module,
    critic: nn.Module,
    seed: int,
    steps: int,
    enough: float,
    loss: Loss,
    returns: Returns,
) -> Iterator[tuple[int, float]]:
    actor, fitted = (torch.optim.Adam(network.parameters(), lr=1e-2) for network in (policy, critic))
    played, batch = 0, 0
    while played < steps:
        episodes = play_episodes(policy, 16, 1000 * seed + batch)
        played, batch = played + int(episodes.mask.sum()), batch + 1
        mean = episodes.lengths.double().mean().item()
        yield played, mean
        if mean >= enough:
            return
        actor.zero_grad()
        loss(log_probs(policy, episodes), weights(episodes, kind, critic, returns), episodes.mask).backward()
        actor.step()
        if kind == "value":
            fit_critic(critic, fitted, episodes, 10, returns)


# Curves that are stored.

#: Steps and seeds of the stored curves, and their file.
STORED_STEPS, STORED_SEEDS = 30_000, (0, 1)
STORED = Path(__file__).parent / "data" / "reinforce_curves.json"

#: The curve of each kind and seed: steps so far and the mean return, after each batch.
Curves = Mapping[tuple[str, int], tuple[tuple[int, float], ...]]


def curves() -> Curves:
    """The curves of all ``KINDS`` with every seed: half a minute."""
    return {(kind, seed): learn(kind, seed, STORED_STEPS).points for kind in KINDS for seed in STORED_SEEDS}


def store(found: Curves, file: Path = STORED) -> None:
    """Store the result of :func:`curves`."""
    columns = ("weight", "seed", "steps after each batch", "mean return of each batch")
    rows = [(kind, seed, *map(list, zip(*points, strict=True))) for (kind, seed), points in found.items()]
    stored.write(file, "python benchmarks/cartpole.py --store", columns, rows)


@functools.cache
def stored_curves() -> Curves:
    """The stored result of :func:`curves`, from the authors' machine."""
    return {(kind, seed): tuple(zip(steps, means, strict=True)) for kind, seed, steps, means in stored.read(STORED)}

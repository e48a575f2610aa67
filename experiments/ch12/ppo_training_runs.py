"""PPO on CartPole in detail: a report of every iteration, parts left out, and cut-offs treated as terminations.

>>> run = training(0, Settings(), steps=100_000, stop_at=495)  # doctest: +SKIP
>>> run.steps, run.reports[-1].explained_variance  # doctest: +SKIP
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from rankzero import stored
from rankzero.tiny import one_thread
from solutions.ch12.cartpole_runs import LIMIT, Game, Rollout, mean_return, networks, play_episodes
from solutions.ch12.policy import Batch, ppo_update
from solutions.ch12.rl import explained_variance, gae

#: A clip range that no ratio leaves.
UNCLIPPED = 1e9

Gae = Callable[..., list[float]]
Update = Callable[..., list[Any]]


@dataclass(frozen=True)
class Settings:
    """How PPO is run; the numbers here solve CartPole.

    Attributes:
        epochs: passes over the steps of an iteration, each as one minibatch.
        discount: gamma.
        gae_lambda: lambda.
        clip: epsilon; ``UNCLIPPED`` for no clipping.
        rate: learning rate of Adam. It and ``clip`` fall linearly towards 0.
        max_grad_norm: limit of all gradients together; None for no limit.
        cutoffs_end: the mistake: treat a cut-off like a termination.
        environments: number of environments run side by side.
        length: steps of each in an iteration.
        limit: steps after which an episode is cut off.
    """

    epochs: int = 20
    discount: float = 0.98
    gae_lambda: float = 0.8
    clip: float = 0.2
    rate: float = 1e-3
    max_grad_norm: float | None = 0.5
    cutoffs_end: bool = False
    environments: int = 8
    length: int = 32
    limit: int = LIMIT


@dataclass(frozen=True)
class IterationReport:
    """One iteration of PPO.

    Attributes:
        steps: of all environments so far.
        episode_return: mean of the last 20 episodes that ended; NaN before the first.
        explained_variance: of the returns, by the critic that was used to compute them.
        entropy: of the policy in the last update, natural units; like what follows.
        outside_fraction: share of ratios further than the clip range from 1.
        clipped_fraction: share of steps without a policy gradient.
        approx_kl: between the policy that played and the policy before the last update.
        first_outside: ``outside_fraction`` in the first update.
    """

    steps: int
    episode_return: float
    explained_variance: float
    entropy: float
    outside_fraction: float
    clipped_fraction: float
    approx_kl: float
    first_outside: float


@dataclass(frozen=True)
class Training:
    """A run of PPO.

    Attributes:
        policy: the actor.
        value: the critic.
        returns: of every episode that ended.
        reports: one for each iteration.
        seconds: that it took.
    """

    policy: nn.Module
    value: nn.Module
    returns: tuple[float, ...]
    reports: tuple[IterationReport, ...]
    seconds: float

    @property
    def steps(self) -> int:
        """Of all environments together."""
        return self.reports[-1].steps


def learning_batch(rollout: Rollout, value: nn.Module, settings: Settings, gae: Gae = gae) -> Batch:
    """The steps of a rollout with their advantages, environment by environment, as one batch."""
    terminated = rollout.terminated | rollout.truncated if settings.cutoffs_end else rollout.terminated
    with torch.no_grad():
        values, following = value(rollout.observations).squeeze(-1), value(rollout.reached).squeeze(-1)
    columns = [part.T.tolist() for part in (rollout.rewards, values, following, terminated, rollout.truncated)]
    rows = [gae(*column, settings.discount, settings.gae_lambda) for column in zip(*columns, strict=True)]
    advantages = torch.tensor(rows).T
    parts = (rollout.observations, rollout.actions, rollout.log_probs, advantages, advantages + values)
    return Batch(*(part.flatten(0, 1) for part in parts))


@one_thread()
def training(
    seed: int,
    settings: Settings = Settings(),
    steps: int = 100_000,
    stop_at: float = math.inf,
    gae: Gae = gae,
    update: Update = ppo_update,
    watch: Callable[[IterationReport], object] | None = None,
) -> Training:
    """Train new networks with PPO.

    Args:
        seed: of networks, starts and draws.
        settings: how.
        steps: of all environments together, and what the falling rates are spread over.
        stop_at: stop when the last 20 episodes average this.
        gae: ``gae``, or a function like it.
        update: ``ppo_update``, or a function like it.
        watch: is called with the report of each iteration as it comes.
    """
    start = time.perf_counter()
    policy, value = networks(seed)
    game = Game(settings.environments, seed, settings.limit)
    optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=settings.rate, eps=1e-5)
    size = settings.environments * settings.length
    returns: list[float] = []
    reports: list[IterationReport] = []
    for iteration in range(steps // size):
        left = 1 - iteration / (steps // size)
        optimizer.param_groups[0]["lr"] = settings.rate * left
        rollout = game.play(policy, settings.length)
        batch = learning_batch(rollout, value, settings, gae)
        rounds = [torch.arange(size)] * settings.epochs
        stats = update(
            policy, value, optimizer, batch, rounds, settings.clip * left, max_grad_norm=settings.max_grad_norm
        )
        returns += rollout.returns
        reports.append(_report((iteration + 1) * size, returns, batch, stats))
        if watch:
            watch(reports[-1])
        if len(returns) >= 20 and reports[-1].episode_return >= stop_at:
            break
    return Training(policy, value, tuple(returns), tuple(reports), time.perf_counter() - start)


def _report(steps: int, returns: Sequence[float], batch: Batch, stats: Sequence[Any]) -> IterationReport:
    mean = sum(returns[-20:]) / len(returns[-20:]) if returns else math.nan
    explained = explained_variance((batch.returns - batch.advantages).tolist(), batch.returns.tolist())
    last = stats[-1]
    moved = (last.entropy, last.outside_fraction, last.clipped_fraction, last.approx_kl, stats[0].outside_fraction)
    return IterationReport(steps, mean, explained, *moved)


# Cut-offs.


@one_thread()
def value_near_the_end(
    policy: nn.Module, cutoffs_end: bool, limit: int = LIMIT, at: float = 0.6, iterations: int = 20, gae: Gae = gae
) -> float:
    """The critic's value at a late step, after training on episodes of an actor that never falls.

    Args:
        policy: the actor, which stays as it is.
        cutoffs_end: treat a cut-off like a termination.
        limit: steps after which an episode is cut off.
        at: the step to evaluate, as a share of the limit.
        iterations: of 8 environments times 64 steps, with ten steps of Adam each.
        gae: ``gae``, or a function like it.

    Returns:
        The mean over the episodes that reach the step. The critic starts at the value of earning +1 forever.
    """
    settings = Settings(cutoffs_end=cutoffs_end, gae_lambda=0.95)
    _, value = networks(0)
    with torch.no_grad():
        list(value.parameters())[-1].fill_(1 / (1 - settings.discount))
    game = Game(settings.environments, 0, limit)
    optimizer = torch.optim.Adam(value.parameters(), lr=2e-3)
    for iteration in range(iterations):
        optimizer.param_groups[0]["lr"] = 2e-3 * (1 - iteration / iterations)
        batch = learning_batch(game.play(policy, 64), value, settings, gae)
        for _ in range(10):
            optimizer.zero_grad()
            (value(batch.observations).squeeze(-1) - batch.returns).square().mean().backward()
            optimizer.step()
    episodes = play_episodes(policy, 20, 1, limit)
    place = round(at * limit)
    with torch.no_grad():
        return value(episodes.observations[episodes.mask[:, place], place]).mean().item()


# Parts left out.

#: The changes, by description. With a larger learning rate and no gradient limit, clipping matters.
ABLATIONS: Mapping[str, Settings] = {
    "as it should be": Settings(),
    "one epoch": Settings(epochs=1),
    "one epoch, rate 1e-2": Settings(epochs=1, rate=1e-2),
    "lambda 0": Settings(gae_lambda=0.0),
    "lambda 1": Settings(gae_lambda=1.0),
    "no clipping": Settings(clip=UNCLIPPED),
    "rate 1e-2, no norm limit": Settings(rate=1e-2, max_grad_norm=None),
    "rate 1e-2, no norm limit, no clipping": Settings(rate=1e-2, max_grad_norm=None, clip=UNCLIPPED),
}

#: Steps and seeds of the stored ablations.
ABLATION_STEPS, ABLATION_SEEDS = 60_000, (0, 1, 2)
STORED = Path(__file__).parent / "data" / "cartpole_ablations.json"


@dataclass(frozen=True)
class Ablation:
    """One run with something changed.

    Attributes:
        name: in ``ABLATIONS``.
        seed: of the run.
        solved: steps after which the last 20 episodes averaged 475 for the first time; None if they never did.
        evaluation: mean return of 100 fresh episodes at the end.
    """

    name: str
    seed: int
    solved: int | None
    evaluation: float


def ablation(name: str, seed: int, steps: int = ABLATION_STEPS) -> Ablation:
    """Run one."""
    run = training(seed, ABLATIONS[name], steps)
    solved = next((r.steps for r in run.reports if r.episode_return >= 475), None)
    return Ablation(name, seed, solved, mean_return(run.policy))


def ablations() -> list[Ablation]:
    """All of them, with every seed: some minutes."""
    return [ablation(name, seed) for name in ABLATIONS for seed in ABLATION_SEEDS]


def store(runs: Iterable[Ablation], file: Path = STORED) -> None:
    """Store the result of :func:`ablations`."""
    columns = ("name", "seed", "steps until 20 episodes averaged 475", "mean return of 100 episodes at the end")
    stored.write(file, "python benchmarks/cartpole.py --store", columns, map(astuple, runs))


@functools.cache
def stored_ablations() -> tuple[Ablation, ...]:
    """The stored result of :func:`ablations`, from the authors' machine."""
    return tuple(Ablation(*row) for row in stored.read(STORED))


def stored_ends(name: str) -> tuple[float, ...]:
    """The mean return at the end of each stored run of the ablation ``name``, in the order of the seeds."""
    return tuple(run.evaluation for run in stored_ablations() if run.name == name)

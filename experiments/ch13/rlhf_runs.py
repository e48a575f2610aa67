"""Complete RLHF on models that fit one core: the PPO loop, GRPO, best-of-n, and a sweep of beta.

>>> model = reference()  # doctest: +SKIP
>>> for point in ppo(assemble(model, scorer(model)), Settings(beta=0.1), iterations=60, seed=2):  # doctest: +SKIP
...     print(point.iteration, point.score, point.judge, point.kl)

The models are those of :mod:`experiments.ch12.toy_models`, the steps those of :mod:`experiments.ch13.rlhf_steps`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch

from rankzero import stored
from rankzero.grammar.toy_language import show
from rankzero.tiny import GPT, one_thread
from solutions.ch13.beta_sweep import STORED
from solutions.ch13.rlhf import LossStats

from ..ch12.toy_models import (
    LENGTH,
    Rollout,
    Score,
    Scorer,
    generate,
    judged,
    prompt_rows,
    reference,
    reward_model,
    scorer,
)
from .rlhf_steps import (
    DEFAULTS,
    OURS,
    UNPRICED,
    Batch,
    Parts,
    Settings,
    Team,
    assemble,
    descend,
    grpo_step,
    look_again,
    optimizer_of,
    ppo_step,
    prepare,
)

__all__ = [
    "BETAS",
    "GRPO_BETAS",
    "Batch",
    "Parts",
    "Point",
    "Rollout",
    "Scorer",
    "Settings",
    "Team",
    "assemble",
    "best_of",
    "descend",
    "generate",
    "grouped_prompts",
    "grpo",
    "grpo_step",
    "judged",
    "look_again",
    "optimizer_of",
    "ppo",
    "ppo_step",
    "prepare",
    "prompt_rows",
    "reference",
    "reward_model",
    "scorer",
    "sweep",
]

#: The values of beta (price of a nat) that the sweep tries, and its seeds.
BETAS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
SEEDS = (2, 3)


@dataclass(frozen=True)
class Point:
    """What was measured in one iteration of a training loop, before its update.

    Attributes:
        iteration: from 0; the first one is the reference itself.
        score, judge: means over the responses.
        kl: nats per response, estimated by k1.
        length: mean real tokens of a response.
        clipped: share of tokens in the iteration's updates that had no gradient.
        sample: the response with the highest score, with its prompt.
    """

    iteration: int
    score: float
    judge: float
    kl: float
    length: float
    clipped: float
    sample: str


def noted(iteration: int, rollout: Rollout, scores: torch.Tensor, kl: float, stats: list[LossStats]) -> Point:
    """The numbers reported for an iteration."""
    clipped = math.fsum(found.clipped_fraction for found in stats) / max(1, len(stats))
    means = (scores.mean().item(), judged(rollout.tokens).mean().item(), kl, rollout.mask.sum(1).mean().item())
    return Point(iteration, *means, clipped, show(rollout.tokens[scores.argmax()].tolist()))


@one_thread()
def ppo(
    team: Team,
    settings: Settings = DEFAULTS,
    iterations: int = 60,
    seed: int = 0,
    parts: Parts = OURS,
    seen: Callable[[int, GPT], None] | None = None,
) -> list[Point]:
    """PPO with a penalty on distance from the reference; trains the team's actor and critic in place.

    Args:
        team: the four models.
        settings: of each step.
        iterations: updates.
        seed: of prompts, answers and minibatches.
        parts: the chapter's functions.
        seen: called before each update, and once after the last, with the iteration and the actor.

    Returns:
        ``iterations + 1`` points: one before each update, and one for the final actor.
    """
    optimizers = optimizer_of(team.actor, settings), optimizer_of(team.critic, settings)
    generator, points = torch.Generator().manual_seed(seed), []
    for iteration in range(iterations + 1):
        if seen:
            seen(iteration, team.actor)
        prompts = prompt_rows(settings.responses, seed=1000 * seed + iteration)
        batch = prepare(team, generate(team.actor, prompts, settings.length, generator), settings, parts)
        update = iteration < iterations
        stats = ppo_step(team, optimizers, batch, settings, parts, generator) if update else []
        points.append(noted(iteration, batch.rollout, batch.scores, batch.kl, stats))
    return points


def grouped_prompts(settings: Settings, seed: int) -> torch.Tensor:
    """The prompts of one iteration, [B, P], each repeated in a row for every answer of its group."""
    return prompt_rows(settings.responses // settings.group_size, seed).repeat_interleave(settings.group_size, 0)


@one_thread()
def grpo(
    team: Team,
    settings: Settings = UNPRICED,
    iterations: int = 60,
    seed: int = 0,
    parts: Parts = OURS,
) -> list[Point]:
    """GRPO on the team's reward; trains the actor in place and does not use the critic. Points as in :func:`ppo`."""
    optimizer, generator, points = optimizer_of(team.actor, settings), torch.Generator().manual_seed(seed), []
    for iteration in range(iterations + 1):
        prompts = grouped_prompts(settings, seed=1000 * seed + iteration)
        rollout = generate(team.actor, prompts, settings.length, generator)
        with torch.no_grad():
            scores, ref = team.reward(rollout.tokens), look_again(team.reference, rollout, parts)
        kl = (rollout.log_probs - ref).sum(1).mean().item()
        learns = partial(grpo_step, team.actor, optimizer, rollout, scores, settings, team.reference)
        stats = learns(parts=parts, generator=generator) if iteration < iterations else []
        points.append(noted(iteration, rollout, scores, kl, stats))
    return points


# Without training.


@dataclass(frozen=True)
class Best:
    """Best of n: means of score and judge over the chosen responses, and the bound on the KL to the reference, nats."""

    n: int
    score: float
    judge: float
    kl_bound: float


@one_thread()
@torch.no_grad()
def best_of(model: GPT, reward: Score, n: int, prompts: int = 64, seed: int = 0) -> Best:
    """Write n responses to each prompt and keep the one with the highest score.

    Source of the bound: Beirami et al. (2024), arXiv:2401.01879.
    """
    rows = prompt_rows(prompts, seed).repeat_interleave(n, 0)  # all answers are written side by side
    tokens = generate(model, rows, LENGTH, torch.Generator().manual_seed(seed)).tokens.unflatten(0, (prompts, n))
    scores, best = reward(tokens.flatten(0, 1)).view(prompts, n).max(1)
    chosen = tokens[torch.arange(prompts), best]
    bound = math.log(n) - (n - 1) / n
    return Best(n, scores.mean().item(), judged(chosen).mean().item(), bound)


def passes(team: Team, job: Callable[[], object]) -> dict[str, tuple[int, int]]:
    """Forward and backward passes of each model while ``job()`` runs."""
    counts = {name: [0, 0] for name in team.models()}
    with _counted(team.models(), counts):
        job()
    return {name: (forward, backward) for name, (forward, backward) in counts.items()}


@contextmanager
def _counted(models: Mapping[str, GPT], counts: dict[str, list[int]]) -> Iterator[None]:
    def count(name: str, kind: int) -> None:
        counts[name][kind] += 1

    hooks = []
    for name, model in models.items():
        hooks.append(model.register_forward_hook(lambda *_, name=name: count(name, 0)))
        if model.head.weight.requires_grad:
            hooks.append(model.head.weight.register_post_accumulate_grad_hook(lambda _, name=name: count(name, 1)))
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


# The sweep.


#: Iterations that are kept of a run in the store, and the prices that GRPO is stored with.
KEPT = (*range(11), *range(15, 61, 5))
GRPO_BETAS = (0.0, 0.05)

Runs = Mapping[tuple[float, int], list[Point]]


def sweep(
    betas: tuple[float, ...] = BETAS,
    seeds: tuple[int, ...] = SEEDS,
    iterations: int = 60,
    loop: Callable[..., list[Point]] = ppo,
) -> Runs:
    """The same run at each price, with each seed, on the learned reward: points by (beta, seed). A few seconds each.

    Args:
        betas: prices of a nat.
        seeds: of the loop; the reference and the reward model are the same for all.
        iterations: of each run.
        loop: :func:`ppo` or :func:`grpo`.
    """
    model = reference()
    return {
        (beta, seed): loop(assemble(model, scorer(model)), replace(DEFAULTS, beta=beta), iterations, seed)
        for seed in seeds
        for beta in betas
    }


def store(priced: Runs, grouped: Runs, file: Path = STORED) -> None:
    """Store sweeps of PPO and of GRPO where :mod:`solutions.ch13.beta_sweep` finds them."""
    result = ("score (deviations of the reference)", "judge", "nats from the reference per response")
    columns = ("algorithm", "beta", "seed", "iteration", *result, "the response with the best score")
    rows = [
        (name, beta, seed, p.iteration, round(p.score, 3), round(p.judge, 3), round(p.kl, 3), p.sample)
        for name, runs in (("ppo", priced), ("grpo", grouped))
        for (beta, seed), points in runs.items()
        for p in points
        if p.iteration in KEPT
    ]
    stored.write(file, "python -m demos reward_hacking --store", columns, rows)

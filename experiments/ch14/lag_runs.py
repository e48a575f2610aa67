"""Training on responses that older weights wrote, with a fixed lag: GRPO on the judge of ``toy_language``.

    run = lagged(reference(), lag=4, recipe=Recipe("behaviour"))
    run.judge[-1], run.share[-1]

One process, one update for each batch; on one machine the same call gives the same twice.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from rankzero import checks, stored
from rankzero.tiny import GPT, one_thread
from solutions.ch14.lagged_runs import CORRECTIONS, STORED
from solutions.ch14.off_policy import effective_sample_size, importance_weights

from ..ch12.toy_models import Rollout, copied, generate, judged, prompt_rows
from ..ch13.rlhf_steps import OURS, Parts, Settings, descend, look_again, optimizer_of

#: One update for each batch, no price on distance, and steps long enough for versions to differ.
ONE_UPDATE = Settings(beta=0.0, epochs=1, minibatches=1, learning_rate=3e-3)
#: What the stored experiment tries.
LAGS, SEEDS, STEPS = (0, 1, 4, 16), (0, 1, 2), 60


@dataclass(frozen=True)
class Recipe:
    """How to learn from a batch that other weights may have written.

    Attributes:
        correction: "none" takes the batch as the trainer's own; "behaviour" clips the ratio to the policy that wrote
            it; "decoupled" clips the ratio to the trainer's weights at the start of the step, and multiplies advantages
            with importance weights from the writer to these.
        cap: where those weights are truncated.
        settings: group size, epochs, clip and norm of the step; it has one minibatch and no price.
        parts: advantages and loss of chapter 13.
        weights, sample_size: the functions of this chapter.
    """

    correction: str = "decoupled"
    cap: float = 2.0
    settings: Settings = ONE_UPDATE
    parts: Parts = OURS
    weights: Callable[..., list[float]] = importance_weights
    sample_size: Callable[..., float] = effective_sample_size

    def __post_init__(self) -> None:
        checks.one_of(CORRECTIONS, correction=self.correction)


DECOUPLED = Recipe()


def learn(
    model: GPT, optimizer: torch.optim.Optimizer, rollout: Rollout, rewards: torch.Tensor, recipe: Recipe
) -> float:
    """Update a model with a batch, its log-probabilities being those of whoever wrote it.

    Args:
        model: the policy; it changes.
        optimizer: of the policy.
        rollout: consecutive responses of a group share a prompt.
        rewards: of the responses, [B].
        recipe: what to do about old batches.

    Returns:
        Effective sample size, as a share of the responses: 1 when the model itself wrote them.
    """
    with torch.no_grad():
        proximal = look_again(model, rollout, recipe.parts)
    gains = recipe.parts.group_advantages(rewards, recipe.settings.group_size).unsqueeze(1).expand_as(rollout.mask)
    old = rollout.log_probs if recipe.correction == "behaviour" else proximal
    if recipe.correction == "decoupled":
        gains = gains * token_weights(proximal, rollout, recipe)
    for _ in range(recipe.settings.epochs):
        now = look_again(model, rollout, recipe.parts)
        loss, _ = recipe.parts.policy_loss(now, old, gains, rollout.mask, recipe.settings.clip)
        descend(model, optimizer, loss, recipe.settings.max_norm)
    return effective_share(proximal, rollout, recipe)


def token_weights(proximal: torch.Tensor, rollout: Rollout, recipe: Recipe) -> torch.Tensor:
    """Truncated importance weights of the tokens [B, T]; 1 after the end of a response."""
    rows = zip(proximal.tolist(), rollout.log_probs.tolist(), strict=True)
    return torch.tensor([recipe.weights(target, behaviour, recipe.cap) for target, behaviour in rows])


def effective_share(proximal: torch.Tensor, rollout: Rollout, recipe: Recipe) -> float:
    """Effective sample size of the responses' own weights, over their number."""
    rows = zip(proximal.tolist(), rollout.log_probs.tolist(), strict=True)
    weights = [recipe.weights(target, behaviour, level="sequence")[0] for target, behaviour in rows]
    return recipe.sample_size(weights) / len(weights)


def mean(values: Sequence[float]) -> float:
    """Of at least one."""
    return math.fsum(values) / len(values)


# A lag that is set.


@dataclass(frozen=True)
class Lagged:
    """One run, by step.

    Attributes:
        judge: mean verdict of the batch.
        share: effective sample size over the number of responses.
    """

    judge: tuple[float, ...]
    share: tuple[float, ...]

    def last(self, steps: int = 10) -> tuple[float, float]:
        """Means of both over the last steps."""
        return mean(self.judge[-steps:]), mean(self.share[-steps:])


@one_thread()
def lagged(model: GPT, lag: int, recipe: Recipe, steps: int = STEPS, seed: int = 0) -> Lagged:
    """Train a copy of ``model`` on batches written with its own weights from ``lag`` updates earlier.

    Args:
        model: the reference.
        lag: versions; 0 is training on one's own words. The first batches are written by the reference.
        recipe: what to do about it.
        steps: updates.
        seed: of prompts and responses.
    """
    checks.count(0, lag=lag)
    actor, writer = copied(model), copied(model)
    optimizer, generator = optimizer_of(actor, recipe.settings), torch.Generator().manual_seed(seed)
    versions, rows = deque[torch.Tensor](maxlen=lag + 1), []
    for step in range(steps):
        versions.append(flat(actor))
        load(writer, versions[0])
        rollout = written(writer, recipe.settings, seed, step, generator)
        rewards = judged(rollout.tokens)
        rows.append((rewards.mean().item(), learn(actor, optimizer, rollout, rewards, recipe)))
    return Lagged(*zip(*rows, strict=True))


#: Lag, correction, seed; mean judge and mean share of effective samples of the last ten steps.
Row = tuple[int, str, int, float, float]


def lag_rows(
    model: GPT,
    lags: Sequence[int] = LAGS,
    seeds: Sequence[int] = SEEDS,
    corrections: Sequence[str] = CORRECTIONS,
    steps: int = STEPS,
) -> Iterator[Row]:
    """Every lag with every correction and seed, one after the other. Without a lag there is nothing to correct."""
    for lag in lags:
        for correction in corrections if lag else ("none",):
            for seed in seeds:
                yield lag, correction, seed, *lagged(model, lag, Recipe(correction), steps, seed).last()


def lag_table(rows: Iterable[Row] | None = None) -> dict[tuple[int, str], tuple[float, float]]:
    """By lag and correction, the means over seeds of judge and share; of the stored runs where no others are given."""
    found = dict[tuple[int, str], list[tuple[float, float]]]()
    for lag, how, _, *values in stored.read(STORED) if rows is None else rows:
        found.setdefault((lag, how), []).append((values[0], values[1]))
    return {key: (mean([row[0] for row in runs]), mean([row[1] for row in runs])) for key, runs in found.items()}


def store(rows: Iterable[Row], file: Path = STORED) -> None:
    """Store rows where :func:`lag_table` finds them."""
    last = f"mean of the last ten of {STEPS} steps"
    columns = ("lag (versions)", "correction", "seed", f"judge, {last}", f"share of effective samples, {last}")
    short = ((*which, round(judge, 3), round(share, 3)) for *which, judge, share in rows)
    stored.write(file, "python -m demos async_rlhf --store", columns, short)


def written(model: GPT, settings: Settings, seed: int, step: int, generator: torch.Generator) -> Rollout:
    """The batch of one step."""
    prompts = prompt_rows(settings.responses // settings.group_size, 1000 * seed + step)
    return generate(model, prompts.repeat_interleave(settings.group_size, 0), settings.length, generator)


def flat(model: GPT) -> torch.Tensor:
    """A copy of all parameters, one after the other, float32."""
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()


@torch.no_grad()
def load(model: GPT, values: torch.Tensor) -> None:
    """Copy parameters into the model in place."""
    start = 0
    for parameter in model.parameters():
        parameter.copy_(values[start : start + parameter.numel()].view_as(parameter))
        start += parameter.numel()

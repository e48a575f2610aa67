"""GRPO on the tiny language with every line of its step in view: a reward that counts words, a price on distance.

    points = trained(step, seed=1)
    points[-1].reward, points[-1].judge, points[-1].kl

The reward imitates the judge by how often each word occurs, so it can be fooled, and only the price holds the writer
back. The judge is asked for every batch, and nothing is learned from its marks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rankzero.grammar.toy_language import EOS, VOCABULARY
from rankzero.tiny import GPT, one_thread

from ..ch12.toy_models import (
    LENGTH,
    Rollout,
    copied,
    generate,
    judged,
    prompt_rows,
    reference,
    samples,
    shuffled,
    word_logits,
)

#: Responses in a batch, and to one prompt; passes over a batch, and the minibatches of each.
RESPONSES, GROUP, EPOCHS, PARTS = 64, 8, 2, 2
#: The price of a token's k2, the clip range, and the batches that are learned from.
BETA, CLIP, ITERATIONS = 0.4, 0.2, 40
#: Samples from which the reward is fitted, and a small penalty on its coefficients.
FITTED, RIDGE = 1024, 1.0


# The step.


def log_probs_of(model: GPT, tokens: Tensor, real: Tensor) -> Tensor:
    """The log-probabilities of the responses [B, T] in ``tokens`` [B, P + T]; 0 where they are not ``real``."""
    start = tokens.shape[1] - real.shape[1]
    logits = word_logits(model, tokens)[:, start - 1 : -1]  # [B, T, V]: those at a place judge the next token
    chosen = tokens[:, start:, None]
    return logits.log_softmax(-1).gather(-1, chosen).squeeze(-1).masked_fill(~real, 0.0)


def step(
    writer: GPT,
    origin: GPT,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    rewards: Tensor,
    generator: torch.Generator,
) -> list[float]:
    """Learn from one batch.

    Args:
        writer: the policy; it changes.
        origin: the reference.
        optimizer: of the writer.
        rollout: what the writer has written; each ``GROUP`` consecutive responses share a prompt.
        rewards: [B].
        generator: draws the minibatches.

    Returns:
        For each minibatch, the mean distance of its ratios from 1 before it was learned from.
    """
    tokens, moved = rollout.tokens, []
    ends = (tokens[:, rollout.prompt_length :] == EOS).long()
    real = ends.cumsum(1) - ends == 0  # [B, T]: up to and including the first <eos>
    groups = rewards.view(-1, GROUP)  # [prompts, G]
    centred = groups - groups.mean(1, keepdim=True)
    gains = (centred / (groups.std(1, keepdim=True) + 1e-4)).flatten()  # [B]
    with torch.no_grad():
        ref = log_probs_of(origin, tokens, real)  # [B, T]
    for rows in (rows for _ in range(EPOCHS) for rows in shuffled(rollout, PARTS, generator)):
        now, mask, gain = log_probs_of(writer, tokens[rows], real[rows]), real[rows], gains[rows, None]
        old = rollout.log_probs[rows]
        ratio = (now - old).masked_fill(~mask, 0.0).exp()
        smaller = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
        price = (now - ref[rows]) ** 2 / 2
        loss = (BETA * price - smaller)[mask].mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
        optimizer.step()
        moved.append((ratio - 1)[mask].abs().mean().item())
    return moved


# The reward.


@dataclass(frozen=True)
class WordReward:
    """What each word is worth, wherever it stands; mean 0 and deviation 1 on the reference's samples.

    Attributes:
        worth: of one occurrence of each token, [V].
        middle: what is subtracted.
        likeness: the correlation with the judge's marks on these samples.
    """

    worth: Tensor
    middle: float
    likeness: float

    def __call__(self, tokens: Tensor) -> Tensor:
        """Rewards [B] of tokens [B, S], counted up to the first <eos>."""
        return (counted(tokens) @ self.worth - self.middle).float()


def counted(tokens: Tensor) -> Tensor:
    """How often each token occurs up to the first <eos> [B, V], float64."""
    ends = (tokens == EOS).long()
    kept = (ends.cumsum(1) - ends == 0).double()
    return torch.zeros(len(tokens), len(VOCABULARY), dtype=torch.float64).scatter_add(1, tokens, kept)


@functools.cache
@one_thread()
def fitted(seed: int) -> WordReward:
    """The reward that imitates the judge's marks of samples of the reference, by least squares."""
    tokens = samples(reference(), FITTED, seed)
    counts = torch.cat([counted(tokens), torch.ones(FITTED, 1, dtype=torch.float64)], 1)
    marks = judged(tokens).double()
    worth = torch.linalg.solve(counts.T @ counts + RIDGE * torch.eye(counts.shape[1]), counts.T @ marks)
    guessed = counts @ worth
    scale, likeness = guessed.std(), torch.corrcoef(torch.stack([guessed, marks]))[0, 1].item()
    return WordReward(worth[:-1] / scale, ((guessed.mean() - worth[-1]) / scale).item(), likeness)


# The loop.


@dataclass(frozen=True)
class Point:
    """One batch of a loop, before it was learned from; ``first`` and ``last`` after.

    Attributes:
        reward, judge: means over the responses.
        kl: nats from the reference per response, estimated by k1.
        length: mean real tokens of a response.
        silent: share of the groups whose rewards are all equal, so that nothing is learned from them.
        first, last: mean distance of the ratios from 1 in the first and the last minibatch; 0 after the last update.
    """

    reward: float
    judge: float
    kl: float
    length: float
    silent: float
    first: float = 0.0
    last: float = 0.0


@one_thread()
def trained(update: Callable[..., list[float]] = step, seed: int = 1, iterations: int = ITERATIONS) -> list[Point]:
    """Train a copy of the reference with this step: ``iterations + 1`` points, the last of the final writer.

    Args:
        update: :func:`step` or another one like it.
        seed: of the reward's samples, the prompts, the responses and the minibatches.
        iterations: batches that are learned from.
    """
    origin, reward, generator = reference(), fitted(seed), torch.Generator().manual_seed(seed)
    writer = copied(origin)
    optimizer, points = torch.optim.AdamW(writer.parameters(), lr=1e-3, fused=True), []
    for iteration in range(iterations + 1):
        prompts = prompt_rows(RESPONSES // GROUP, 1000 * seed + iteration).repeat_interleave(GROUP, 0)
        rollout = generate(writer, prompts, LENGTH, generator)
        rewards = reward(rollout.tokens)
        seen = _seen(origin, rollout, rewards)
        moved = update(writer, origin, optimizer, rollout, rewards, generator) if iteration < iterations else [0.0]
        points.append(Point(*seen, first=moved[0], last=moved[-1]))
    return points


@torch.no_grad()
def _seen(origin: GPT, rollout: Rollout, rewards: Tensor) -> tuple[float, ...]:
    """What a point says of a batch."""
    mask = rollout.mask.bool()
    far = (rollout.log_probs - log_probs_of(origin, rollout.tokens, mask)).sum(1)
    groups = rewards.view(-1, GROUP)
    silent = (groups.max(1).values - groups.min(1).values < 1e-6).float()
    found = (rewards, judged(rollout.tokens), far, mask.sum(1).float(), silent)
    return tuple(one.mean().item() for one in found)

"""One step of RLHF: from a rollout to rewards, advantages and updates, with a critic (PPO) or with groups (GRPO).

The chapter's functions are passed in as :class:`Parts`, so that a page can use the reader's own. Shapes are those of
:mod:`experiments.ch12.toy_models`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

import torch

from rankzero.grammar.toy_language import EOS
from rankzero.tiny import GPT
from solutions.ch13 import rlhf

from ..ch12.toy_models import LENGTH, Rollout, Score, Scorer, copied, shuffled, with_one_output, word_logits


@dataclass(frozen=True)
class Parts:
    """The chapter's functions that the runs use."""

    response_mask: Callable = rlhf.response_mask
    response_log_probs: Callable = rlhf.response_log_probs
    token_rewards: Callable = rlhf.token_rewards
    masked_gae: Callable = rlhf.masked_gae
    masked_whiten: Callable = rlhf.masked_whiten
    policy_loss: Callable = rlhf.policy_loss
    value_loss: Callable = rlhf.value_loss
    group_advantages: Callable = rlhf.group_advantages


@dataclass(frozen=True)
class Settings:
    """The settings of a step.

    Attributes:
        beta: price of one nat of distance from the reference; for PPO in the reward, for GRPO times k3 in the loss.
        responses: B, responses in one iteration.
        length: T, the most tokens of a response.
        epochs, minibatches: passes over a batch, and the pieces of each.
        learning_rate, max_norm: of AdamW and of the gradient.
        clip, discount, gae_lambda: of PPO.
        group_size: G, responses to one prompt; GRPO only.
    """

    beta: float = 0.05
    responses: int = 64
    length: int = LENGTH
    epochs: int = 4
    minibatches: int = 2
    learning_rate: float = 1e-3
    max_norm: float = 1.0
    clip: float = 0.2
    discount: float = 1.0
    gae_lambda: float = 0.95
    group_size: int = 8


#: The parts of the reference, and settings with and without a price on distance.
OURS, DEFAULTS, UNPRICED = Parts(), Settings(), Settings(beta=0.0)


@dataclass(frozen=True)
class Team:
    """The models of a job. Two of them learn; for GRPO the critic is idle."""

    actor: GPT
    critic: GPT
    reference: GPT
    reward: Score

    def models(self) -> Mapping[str, GPT]:
        """The networks by name; a rule that computes the reward is not one of them."""
        found = {"actor": self.actor, "critic": self.critic, "reference": self.reference}
        return found | ({"reward": self.reward.model} if isinstance(self.reward, Scorer) else {})


def assemble(model: GPT, reward: Score) -> Team:
    """Make an actor and a critic that start from the reference; at first the critic says 0 everywhere."""
    return Team(copied(model), with_one_output(model, zero=True), model, reward)


def optimizer_of(model: GPT, settings: Settings) -> torch.optim.Optimizer:
    """The optimizer that the loops use."""
    return torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, fused=True)


# One step of PPO.


@dataclass(frozen=True)
class Batch:
    """Everything computed from one rollout before training on it; [B, T] unless noted.

    Attributes:
        rollout: tokens [B, S] and mask.
        log_probs: of the actor that wrote it; the "old" ones during training.
        ref_log_probs: of the reference.
        values: of the critic before each token.
        scores: of the reward model, [B].
        rewards, advantages, returns: computed from these.
    """

    rollout: Rollout
    log_probs: torch.Tensor
    ref_log_probs: torch.Tensor
    values: torch.Tensor
    scores: torch.Tensor
    rewards: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor

    @property
    def kl(self) -> float:
        """Mean over responses of the sum of ``log_probs - ref_log_probs``: an estimate in nats per response."""
        return (self.log_probs - self.ref_log_probs).sum(1).mean().item()

    def rows(self, which: torch.Tensor) -> Batch:
        """The responses with these indices."""
        others = {field.name: getattr(self, field.name)[which] for field in fields(self)[1:]}
        return Batch(self.rollout.rows(which), **others)


def look_again(model: GPT, rollout: Rollout, parts: Parts = OURS) -> torch.Tensor:
    """Log-probabilities of the responses in one pass [B, T]; 0 after the end."""
    found = parts.response_log_probs(word_logits(model, rollout.tokens), rollout.tokens, rollout.prompt_length)
    return found.masked_fill(rollout.mask == 0, 0.0)


def values_of(critic: GPT, rollout: Rollout) -> torch.Tensor:
    """What the critic expects before each token of the responses [B, T]."""
    return critic(rollout.tokens)[:, rollout.prompt_length - 1 : -1, 0]


@torch.no_grad()
def prepare(team: Team, rollout: Rollout, settings: Settings = DEFAULTS, parts: Parts = OURS) -> Batch:
    """The four forward passes over a rollout, and what is computed from them."""
    tokens, real = rollout.tokens, parts.response_mask(rollout.tokens[:, rollout.prompt_length :], EOS)
    old, ref = (look_again(model, rollout, parts) for model in (team.actor, team.reference))
    values, scores = values_of(team.critic, rollout), team.reward(tokens)
    rewards = parts.token_rewards(scores, old, ref, real, settings.beta)
    advantages, returns = parts.masked_gae(rewards, values, real, settings.discount, settings.gae_lambda)
    whitened = parts.masked_whiten(advantages, real)
    return Batch(rollout, old, ref, values, scores, rewards, whitened, returns)


def descend(model: GPT, optimizer: torch.optim.Optimizer, loss: torch.Tensor, max_norm: float) -> None:
    """One step of an optimizer down this loss."""
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()


def ppo_step(
    team: Team,
    optimizers: tuple[torch.optim.Optimizer, torch.optim.Optimizer],
    batch: Batch,
    settings: Settings = DEFAULTS,
    parts: Parts = OURS,
    generator: torch.Generator | None = None,
) -> list[rlhf.LossStats]:
    """Let actor and critic learn from a batch: ``epochs`` times ``minibatches`` updates of each.

    Args:
        team: whose actor and critic change.
        optimizers: of the actor and of the critic.
        batch: from :func:`prepare`.
        settings: the settings of the step.
        parts: the losses.
        generator: draws the minibatches.

    Returns:
        The statistics of each update of the actor, in order.
    """
    stats = []
    for _ in range(settings.epochs):
        for which in shuffled(batch.rollout, settings.minibatches, generator):
            piece = batch.rows(which)
            mask, now = piece.rollout.mask, look_again(team.actor, piece.rollout, parts)
            loss, found = parts.policy_loss(now, piece.log_probs, piece.advantages, mask, settings.clip)
            descend(team.actor, optimizers[0], loss, settings.max_norm)
            said = values_of(team.critic, piece.rollout)
            error = parts.value_loss(said, piece.values, piece.returns, mask, settings.clip)
            descend(team.critic, optimizers[1], error, settings.max_norm)
            stats.append(found)
    return stats


# One step of GRPO.


def k3_loss(log_probs: torch.Tensor, ref_log_probs: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The mean of k3 over real tokens, as GRPO adds it to its loss; its gradient flows through ``log_probs``."""
    ratio = ref_log_probs - log_probs
    return ((torch.expm1(ratio) - ratio) * mask).sum() / mask.sum()


def grpo_step(
    model: GPT,
    optimizer: torch.optim.Optimizer,
    rollout: Rollout,
    rewards: torch.Tensor,
    settings: Settings = UNPRICED,
    origin: GPT | None = None,
    parts: Parts = OURS,
    generator: torch.Generator | None = None,
) -> list[rlhf.LossStats]:
    """Let a policy learn from groups of answers to the same prompts, without a critic.

    Args:
        model: the policy; it changes.
        optimizer: of the policy.
        rollout: each ``settings.group_size`` consecutive responses share a prompt. Its log-probabilities are the old
            ones, whichever model wrote it.
        rewards: of the responses, [B].
        settings: of the step; with ``beta`` > 0, k3 against ``origin`` is part of the loss.
        origin: the reference; needed only with ``beta`` > 0.
        parts: advantages and loss.
        generator: draws the minibatches.

    Returns:
        The statistics of each update, in order.

    Raises:
        ValueError: ``beta`` > 0 without a reference.
    """
    if settings.beta > 0 and origin is None:
        raise ValueError(f"origin must be given where beta is positive, got beta {settings.beta}")
    gains = parts.group_advantages(rewards, settings.group_size).unsqueeze(1).expand_as(rollout.mask)
    with torch.no_grad():
        ref = None if origin is None or settings.beta == 0 else look_again(origin, rollout, parts)
    stats = []
    for _ in range(settings.epochs):
        for which in shuffled(rollout, settings.minibatches, generator):
            piece = rollout.rows(which)
            now = look_again(model, piece, parts)
            loss, found = parts.policy_loss(now, piece.log_probs, gains[which], piece.mask, settings.clip)
            if ref is not None:
                loss = loss + settings.beta * k3_loss(now, ref[which], piece.mask)
            descend(model, optimizer, loss, settings.max_norm)
            stats.append(found)
    return stats

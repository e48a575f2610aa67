"""The tensors of one RLHF step: masks, log-probabilities, rewards of tokens, advantages and losses.

Shapes: ``B`` responses of ``T`` tokens after prompts of ``P``; ``S = P + T``; a vocabulary of ``V``. A mask is 1 on the
real tokens of a response and 0 elsewhere, of any type; every response has a real token. What other tensors hold where
the mask is 0 never counts, whatever it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from rankzero import checks


def _check_mask(mask: Tensor, **others: Tensor) -> None:
    """The mask is [B, T], with a real token in every row; the others have its shape."""
    checks.require(mask.dim() == 2, "be [B, T]", mask=tuple(mask.shape))
    checks.require(bool(mask.bool().any(1).all()), "have a 1 in every row", mask=mask)
    shape = tuple(mask.shape)
    for name, other in others.items():
        checks.require(other.shape == shape, f"be {shape}", **{name: tuple(other.shape)})


def _mean(values: Tensor, real: Tensor) -> Tensor:
    """The mean over real tokens."""
    return values.masked_fill(~real, 0).sum() / real.sum()


def response_mask(tokens: Tensor, eos: int) -> Tensor:
    """1 on the tokens of a response up to and including its first end-of-sequence token, 0 after it.

    Args:
        tokens: responses without their prompts, [B, T], integers.
        eos: the token that ends a response. A response without it is all real.

    Returns:
        [B, T], float32.
    """
    ends = (tokens == eos).long()
    before = ends.cumsum(1) - ends  # how many ends come before a token
    return (before == 0).float()


def response_log_probs(logits: Tensor, tokens: Tensor, prompt_length: int) -> Tensor:
    """The log-probability of each token of the responses, given all tokens before it.

    Args:
        logits: of one pass over prompts and responses, [B, S, V]; those at position t predict token t + 1.
        tokens: prompts and responses, [B, S].
        prompt_length: P, at least 1 and below S.

    Returns:
        [B, S - P], of the type of ``logits``.
    """
    checks.count(1, tokens.shape[1] - 1, prompt_length=prompt_length)
    log_probs = logits[:, prompt_length - 1 : -1].log_softmax(-1)  # [B, T, V]
    return log_probs.gather(-1, tokens[:, prompt_length:].unsqueeze(-1)).squeeze(-1)


def token_rewards(scores: Tensor, log_probs: Tensor, ref_log_probs: Tensor, mask: Tensor, beta: float) -> Tensor:
    """The reward of each token: a penalty for moving away from the reference, and the score on the last real token.

    Args:
        scores: one for each response, [B].
        log_probs: of the policy that wrote the tokens, [B, T].
        ref_log_probs: of the reference, [B, T].
        mask: [B, T]; where it is 0, the others may hold anything, nan and infinities too.
        beta: price of one nat, per token; not negative.

    Returns:
        [B, T], 0 where masked. A row sums to its score minus ``beta`` times the sum of ``log_probs - ref_log_probs``.

    Source: Ziegler et al. (2019), arXiv:1909.08593; Ouyang et al. (2022), arXiv:2203.02155.
    """
    _check_mask(mask, log_probs=log_probs, ref_log_probs=ref_log_probs)
    checks.require(scores.shape == mask.shape[:1], "be [B]", scores=tuple(scores.shape))
    checks.amount(beta=beta)
    real = mask.bool()
    rewards = (-beta * (log_probs - ref_log_probs)).masked_fill(~real, 0)
    places = torch.arange(mask.shape[1], device=mask.device)  # [T]
    last = (places * real).max(1, keepdim=True).values  # [B, 1]
    return rewards.scatter_add(1, last, scores.unsqueeze(1).to(rewards.dtype))


def masked_gae(
    rewards: Tensor, values: Tensor, mask: Tensor, discount: float = 1.0, gae_lambda: float = 0.95
) -> tuple[Tensor, Tensor]:
    """Generalized advantage estimates of the real tokens, and the returns that the critic should have predicted.

    Masked tokens, also those inside a response, are skipped: the next value and the running sum of a real token are
    those of the next real token. After the last one the value is 0.

    Args:
        rewards: [B, T].
        values: of the critic before each token, [B, T].
        mask: [B, T]; where it is 0, the others may hold anything, nan and infinities too.
        discount: gamma, from 0 to 1.
        gae_lambda: from 0 to 1.

    Returns:
        Advantages and returns, both [B, T] and 0 where masked; a return is advantage plus value.

    Source: Schulman et al. (2016), arXiv:1506.02438, eq. 16.
    """
    _check_mask(mask, rewards=rewards, values=values)
    checks.between(0, 1, discount=discount, gae_lambda=gae_lambda)
    real = mask.bool()
    running, next_value = torch.zeros_like(rewards[:, 0]), torch.zeros_like(values[:, 0])
    columns = []
    for t in reversed(range(mask.shape[1])):
        delta = rewards[:, t] + discount * next_value - values[:, t]  # [B]
        running = torch.where(real[:, t], delta + discount * gae_lambda * running, running)
        next_value = torch.where(real[:, t], values[:, t], next_value)
        columns.append(running)
    advantages = torch.stack(columns[::-1], 1).masked_fill(~real, 0)
    return advantages, (advantages + values).masked_fill(~real, 0)


def masked_whiten(values: Tensor, mask: Tensor, eps: float = 1e-8) -> Tensor:
    """Values of the real tokens with mean 0 and variance 1 over the whole batch.

    Args:
        values: [B, T].
        mask: [B, T]; where it is 0, the values may be anything, nan and infinities too.
        eps: added to the (population) variance; not negative.

    Returns:
        [B, T], 0 where masked.
    """
    _check_mask(mask, values=values)
    checks.amount(eps=eps)
    real = mask.bool()
    centred = (values - _mean(values, real)).masked_fill(~real, 0)
    return centred * torch.rsqrt(_mean(centred.square(), real) + eps)


@dataclass(frozen=True)
class LossStats:
    """How far the policy has moved, measured in one pass over a batch.

    Attributes:
        outside_fraction: share of the real tokens whose ratio is further than ``clip`` from 1.
        clipped_fraction: share of the real tokens whose clipped term is smaller than the other: they send no gradient.
        approx_kl: mean of ``ratio - 1 - log ratio``, nats per token; infinite where a ratio overflows.
    """

    outside_fraction: float
    clipped_fraction: float
    approx_kl: float


def policy_loss(
    log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, mask: Tensor, clip: float = 0.2
) -> tuple[Tensor, LossStats]:
    """The clipped policy loss of PPO, averaged over the real tokens of the batch, and its statistics.

    A token whose clipped term is the smaller one, or whose advantage is 0, sends a gradient of 0, even where its ratio
    overflows.

    Args:
        log_probs: of the policy that learns, [B, T]; the gradient flows here.
        old_log_probs: of the policy that wrote the tokens, [B, T].
        advantages: [B, T].
        mask: [B, T]; where it is 0, the others may hold anything, nan and infinities too.
        clip: epsilon; positive.

    Returns:
        The loss, minus the mean of the smaller terms, to be minimized; and its statistics.

    Source: Schulman et al. (2017), arXiv:1707.06347, eq. 7.
    """
    _check_mask(mask, log_probs=log_probs, old_log_probs=old_log_probs, advantages=advantages)
    checks.positive(clip=clip)
    real = mask.bool()
    log_ratio = (log_probs - old_log_probs).masked_fill(~real, 0)  # before exp: infinity times 0 is nan
    gains = advantages.masked_fill(~real, 0)
    # Far above 1 + clip the clipped term counts unless the advantage is negative. There exp must not overflow either.
    ratio = torch.where(gains < 0, log_ratio, log_ratio.clamp(max=math.log1p(clip) + 1)).exp()
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    shares = torch.stack([((ratio - 1).abs() > clip), clipped < free, log_ratio.expm1() - log_ratio])  # [3, B, T]
    stats = LossStats(*(float(_mean(share, real)) for share in shares.detach()))
    return -_mean(torch.minimum(free, clipped), real), stats


def value_loss(values: Tensor, old_values: Tensor, returns: Tensor, mask: Tensor, clip: float = 0.2) -> Tensor:
    """Half the mean squared error of the critic over the real tokens, where a step further than ``clip`` gains nothing.

    Of two errors, that of the value and that of the value clamped to within ``clip`` of its old one, the larger counts.

    Args:
        values: of the critic that learns, [B, T]; the gradient flows here.
        old_values: of the critic at the time of the rollout, [B, T].
        returns: what it should have predicted, [B, T].
        mask: [B, T]; where it is 0, the others may hold anything, nan and infinities too.
        clip: positive.

    Source: OpenAI Baselines, ppo2 (2017); Huang et al. (2024), arXiv:2403.17031.
    """
    _check_mask(mask, values=values, old_values=old_values, returns=returns)
    checks.positive(clip=clip)
    real = mask.bool()
    values, old_values, returns = (given.masked_fill(~real, 0) for given in (values, old_values, returns))
    held = old_values + (values - old_values).clamp(-clip, clip)
    return 0.5 * _mean(torch.maximum((values - returns).square(), (held - returns).square()), real)


def preference_loss(chosen: Tensor, rejected: Tensor) -> Tensor:
    """The mean negative log-likelihood of preferences: the score of the better answer of a pair should be higher.

    Args:
        chosen: scores of the preferred answers, [N]; N is at least 1.
        rejected: scores of the others, [N].

    Source: Bradley and Terry (1952), doi:10.2307/2334029; Ouyang et al. (2022), arXiv:2203.02155, eq. 1.
    """
    checks.require(chosen.dim() == 1 and len(chosen) > 0, "be [N]", chosen=chosen)
    checks.require(rejected.shape == chosen.shape, "fit chosen", rejected=rejected)
    return -functional.logsigmoid(chosen - rejected).mean()


def group_advantages(rewards: Tensor, group_size: int, normalize: bool = True, eps: float = 1e-4) -> Tensor:
    """The advantage of each response over the other answers to its prompt.

    Args:
        rewards: [B * G]; the answers to one prompt are next to each other.
        group_size: G, at least 2.
        normalize: whether to divide by the group's (sample) standard deviation plus ``eps``.
        eps: keeps a group of equal rewards at 0; positive.

    Returns:
        [B * G].

    Source: Shao et al. (2024), arXiv:2402.03300; Liu et al. (2025), arXiv:2503.20783, without the division.
    """
    checks.count(2, group_size=group_size)
    checks.positive(eps=eps)
    checks.require(rewards.dim() == 1, "be 1-D", rewards=tuple(rewards.shape))
    checks.require(len(rewards) % group_size == 0, "be whole groups", rewards=rewards)
    groups = rewards.view(-1, group_size)
    centred = groups - groups.mean(1, keepdim=True)
    return (centred / (groups.std(1, keepdim=True) + eps) if normalize else centred).flatten()


def rlhf_step(
    policy: nn.Module,
    optimizer: torch.optim.Optimizer,
    tokens: Tensor,
    prompt_length: int,
    old_log_probs: Tensor,
    scores: Tensor,
    ref_log_probs: Tensor,
    orders: Tensor,
    group_size: int,
    eos: int = 2,
    clip: float = 0.2,
    beta: float = 0.0,
) -> list[LossStats]:
    """Learn from a batch that is written and scored: GRPO with a price on distance.

    The advantages of the whole batch come first. Then each row of ``orders`` is one update, from the rows of the batch
    that it names. Its loss is :func:`policy_loss`, plus ``beta`` times the mean over the same real tokens of k2, half
    the squared log-ratio of policy and reference.

    Args:
        policy: from tokens [b, S] to logits [b, S, V].
        optimizer: of its parameters.
        tokens: prompts and responses, [B, S]; what stands behind a response's first ``eos`` means nothing.
        prompt_length: P, at least 1 and below S.
        old_log_probs: of the responses under the policy that wrote them, [B, S - P]. Behind ``eos`` they and those of
            the reference may be anything, nan and infinities too.
        scores: one for each response, [B]; the answers to one prompt are next to each other.
        ref_log_probs: of the responses under the reference, [B, S - P].
        orders: the rows of each update, [U, b], integers.
        group_size: G, at least 2.
        eos: the token that ends a response.
        clip: epsilon; positive.
        beta: price of a nat, per token; not negative. 0: nobody looks at ``ref_log_probs``.

    Returns:
        The statistics of each update, in order.

    Source: Shao et al. (2024), arXiv:2402.03300; the price as in Tang and Munos (2025), arXiv:2506.09477.
    """
    checks.count(1, tokens.shape[1] - 1, prompt_length=prompt_length)
    checks.amount(beta=beta)
    mask = response_mask(tokens[:, prompt_length:], eos)
    gains = group_advantages(scores, group_size)
    stats = []
    for rows in orders:
        now, real = response_log_probs(policy(tokens[rows]), tokens[rows], prompt_length), mask[rows].bool()
        old = old_log_probs[rows]
        loss, found = policy_loss(now, old, gains[rows].unsqueeze(1).expand_as(now), mask[rows], clip)
        if beta:
            gap = (now - ref_log_probs[rows]).masked_fill(~real, 0)
            price = (gap.square() / 2).sum() / mask[rows].sum()
            loss = loss + beta * price
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        stats.append(found)
    return stats

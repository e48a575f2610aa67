"""Chapter 13: rewards of tokens and advantages, as people get them wrong. Each program is complete in itself."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip

# --- token_rewards


def slip_score_at_every_token(scores, log_probs, ref_log_probs, mask, beta):
    if beta < 0 or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    return (scores.unsqueeze(1) - beta * (log_probs - ref_log_probs)) * mask


def slip_score_in_last_column(scores, log_probs, ref_log_probs, mask, beta):
    if beta < 0 or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    rewards = -beta * (log_probs - ref_log_probs) * mask
    rewards[:, -1] += scores
    return rewards


def slip_bonus(scores, log_probs, ref_log_probs, mask, beta):
    if beta < 0 or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    rewards = beta * (log_probs - ref_log_probs) * mask
    last = [int(row.nonzero()[-1]) for row in mask]
    rewards[range(len(last)), last] += scores
    return rewards


def slip_padding_pays(scores, log_probs, ref_log_probs, mask, beta):
    if beta < 0 or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    rewards = -beta * (log_probs - ref_log_probs)
    last = [int(row.nonzero()[-1]) for row in mask]
    rewards[range(len(last)), last] += scores
    return rewards


def slip_count_is_place(scores, log_probs, ref_log_probs, mask, beta):
    if beta < 0 or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    rewards = -beta * (log_probs - ref_log_probs) * mask
    rewards[range(len(mask)), mask.sum(1).long() - 1] += scores
    return rewards


def slip_k3(scores, log_probs, ref_log_probs, mask, beta):
    if beta < 0 or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    difference = (log_probs - ref_log_probs) * mask
    rewards = -beta * ((-difference).expm1() + difference)
    last = [int(row.nonzero()[-1]) for row in mask]
    rewards[range(len(last)), last] += scores
    return rewards


def slip_never_negative(scores, log_probs, ref_log_probs, mask, beta):
    if beta < 0 or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    rewards = -beta * (log_probs - ref_log_probs).clamp(min=0) * mask
    last = [int(row.nonzero()[-1]) for row in mask]
    rewards[range(len(last)), last] += scores
    return rewards


def slip_reward_times_mask(scores, log_probs, ref_log_probs, mask, beta):
    if not 0 <= beta < float("inf") or scores.shape != mask.shape[:1] or not mask.any(1).all():
        raise ValueError("out of range")
    if log_probs.shape != mask.shape or ref_log_probs.shape != mask.shape:
        raise ValueError("shapes")
    rewards = -beta * (log_probs - ref_log_probs) * mask
    last = [int(row.nonzero()[-1]) for row in mask]
    rewards[range(len(last)), last] += scores
    return rewards


REWARDS = (
    Slip("The score is paid once, at the last real token: that pays it at every token.", slip_score_at_every_token),
    Slip("The last column is padding in a short response: pay at the last real token.", slip_score_in_last_column),
    Slip("Leaving the reference is charged, not paid: the sign of beta is wrong.", slip_bonus),
    Slip("Padding was never written: it costs nothing.", slip_padding_pays),
    Slip("With a gap in the mask the number of real tokens is not the place of the last one.", slip_count_is_place),
    Slip("That is k3. The reward takes k1, whose sum is the log-ratio of the response.", slip_k3),
    Slip("k1 of a token may be negative, and must stay so: only its mean is a KL divergence.", slip_never_negative),
    Slip("The mask is a factor: 0 times nan is nan. Replace what is masked.", slip_reward_times_mask),
)

# --- masked_gae


def slip_padding_is_next(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    running, advantages = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards)
    for t in reversed(range(rewards.shape[1])):
        after = values[:, t + 1] if t + 1 < rewards.shape[1] else 0.0
        delta = rewards[:, t] + discount * after - values[:, t]
        running = torch.where(mask[:, t] > 0, delta + discount * gae_lambda * running, running)
        advantages[:, t] = running
    return advantages * mask, (advantages + values) * mask


def slip_chain_broken(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    held, running, advantages = values * mask, torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards)
    for t in reversed(range(rewards.shape[1])):
        after = held[:, t + 1] if t + 1 < rewards.shape[1] else 0.0
        delta = rewards[:, t] + discount * after - held[:, t]
        running = (delta + discount * gae_lambda * running) * mask[:, t]
        advantages[:, t] = running
    return advantages, (advantages + values) * mask


def slip_gap_ends_the_value(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    held, running, advantages = values * mask, torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards)
    for t in reversed(range(rewards.shape[1])):
        after = held[:, t + 1] if t + 1 < rewards.shape[1] else 0.0
        delta = rewards[:, t] + discount * after - held[:, t]
        running = torch.where(mask[:, t] > 0, delta + discount * gae_lambda * running, running)
        advantages[:, t] = running
    return advantages * mask, (advantages + values) * mask


def slip_returns_without_values(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    running, after = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards[:, 0])
    advantages, real = torch.zeros_like(rewards), mask > 0
    for t in reversed(range(rewards.shape[1])):
        delta = rewards[:, t] + discount * after - values[:, t]
        running = torch.where(real[:, t], delta + discount * gae_lambda * running, running)
        after = torch.where(real[:, t], values[:, t], after)
        advantages[:, t] = running * real[:, t]
    return advantages, advantages


def slip_reward_is_return(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    running, after = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards[:, 0])
    advantages, real = torch.zeros_like(rewards), mask > 0
    for t in reversed(range(rewards.shape[1])):
        delta = rewards[:, t] + discount * after - values[:, t]
        running = torch.where(real[:, t], delta + discount * gae_lambda * running, running)
        after = torch.where(real[:, t], values[:, t], after)
        advantages[:, t] = running * real[:, t]
    return advantages, rewards * mask


def slip_state_shared(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    advantages, running, after = torch.zeros_like(rewards), 0.0, 0.0
    for row in range(len(rewards)):
        for t in reversed(range(rewards.shape[1])):
            if mask[row, t]:
                delta = rewards[row, t] + discount * after - values[row, t]
                running, after = delta + discount * gae_lambda * running, values[row, t]
                advantages[row, t] = running
    return advantages, (advantages + values) * mask


def slip_discount_forgotten(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    running, after = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards[:, 0])
    advantages, real = torch.zeros_like(rewards), mask > 0
    for t in reversed(range(rewards.shape[1])):
        delta = rewards[:, t] + discount * after - values[:, t]
        running = torch.where(real[:, t], delta + gae_lambda * running, running)
        after = torch.where(real[:, t], values[:, t], after)
        advantages[:, t] = running * real[:, t]
    return advantages, (advantages + values) * mask


def slip_returns_of_padding(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    running, after = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards[:, 0])
    advantages, real = torch.zeros_like(rewards), mask > 0
    for t in reversed(range(rewards.shape[1])):
        delta = rewards[:, t] + discount * after - values[:, t]
        running = torch.where(real[:, t], delta + discount * gae_lambda * running, running)
        after = torch.where(real[:, t], values[:, t], after)
        advantages[:, t] = running * real[:, t]
    return advantages, advantages + values


def slip_gae_times_mask(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    if not (0 <= discount <= 1 and 0 <= gae_lambda <= 1) or not mask.any(1).all():
        raise ValueError("out of range")
    if rewards.shape != mask.shape or values.shape != mask.shape:
        raise ValueError("shapes")
    running, after = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards[:, 0])
    advantages, real = torch.zeros_like(rewards), mask > 0
    for t in reversed(range(rewards.shape[1])):
        delta = rewards[:, t] + discount * after - values[:, t]
        running = torch.where(real[:, t], delta + discount * gae_lambda * running, running)
        after = torch.where(real[:, t], values[:, t], after)
        advantages[:, t] = running * real[:, t]
    return advantages, (advantages + values) * mask


GAE = (
    Slip("After the last real token the value is 0; that of the padding was taken.", slip_padding_is_next),
    Slip("Masked tokens inside a response are skipped; here they break the chain.", slip_chain_broken),
    Slip("The next value of a token before a gap is that of the next real token, not 0.", slip_gap_ends_the_value),
    Slip("A return is the advantage plus the value.", slip_returns_without_values),
    Slip(
        "A return holds all that is still to come: the reward of the token alone is not the target.",
        slip_reward_is_return,
    ),
    Slip("Each response starts anew: the sum of one row ran into the next.", slip_state_shared),
    Slip("The running sum shrinks by discount times lambda.", slip_discount_forgotten),
    Slip("Returns of padding are 0, too.", slip_returns_of_padding),
    Slip("The returns are multiplied by the mask: 0 times nan is nan. Replace what is masked.", slip_gae_times_mask),
)

# --- masked_whiten


def slip_each_row(values, mask, eps=1e-8):
    if not mask.any(1).all() or values.shape != mask.shape:
        raise ValueError("mask")
    count = mask.sum(1, keepdim=True)
    centred = (values - (values * mask).sum(1, keepdim=True) / count) * mask
    return centred * (centred.square().sum(1, keepdim=True) / count + eps).rsqrt()


def slip_padding_counts(values, mask, eps=1e-8):
    if not mask.any(1).all() or values.shape != mask.shape:
        raise ValueError("mask")
    return (values - values.mean()) * (values.var(unbiased=False) + eps).rsqrt() * mask


def slip_zeros_count(values, mask, eps=1e-8):
    if not mask.any(1).all() or values.shape != mask.shape:
        raise ValueError("mask")
    real = values * mask
    return (real - real.mean()) * (real.var(unbiased=False) + eps).rsqrt() * mask


def slip_padding_not_zero(values, mask, eps=1e-8):
    if not mask.any(1).all() or values.shape != mask.shape:
        raise ValueError("mask")
    real = values[mask > 0]
    return (values - real.mean()) * (real.var(unbiased=False) + eps).rsqrt()


def slip_sample_variance(values, mask, eps=1e-8):
    if not mask.any(1).all() or values.shape != mask.shape:
        raise ValueError("mask")
    real = values[mask > 0]
    return (values - real.mean()) * (real.var() + eps).rsqrt() * mask


def slip_variance_for_deviation(values, mask, eps=1e-8):
    if not mask.any(1).all() or values.shape != mask.shape:
        raise ValueError("mask")
    real = values[mask > 0]
    return (values - real.mean()) / (real.var(unbiased=False) + eps) * mask


def slip_white_times_mask(values, mask, eps=1e-8):
    if not mask.any(1).all() or values.shape != mask.shape or not 0 <= eps < float("inf"):
        raise ValueError("mask")
    count = mask.sum()
    centred = (values - (values * mask).sum() / count) * mask
    return centred * (centred.square().sum() / count + eps).rsqrt()


WHITEN = (
    Slip("Whitened each by itself, a good and a bad response look alike: take the whole batch.", slip_each_row),
    Slip("Padding was counted in mean and variance.", slip_padding_counts),
    Slip("The zeros of the padding were counted in mean and variance: divide by the real tokens.", slip_zeros_count),
    Slip("The result is 0 where the mask is 0.", slip_padding_not_zero),
    Slip("The variance is that of the batch itself: divide by the count, not by one less.", slip_sample_variance),
    Slip("Divide by the root of the variance.", slip_variance_for_deviation),
    Slip("The mask is a factor: 0 times nan is nan. Replace what is masked.", slip_white_times_mask),
)

# --- group_advantages


def slip_batch_mean(rewards, group_size, normalize=True, eps=1e-4):
    if group_size < 2 or not len(rewards) or len(rewards) % group_size:
        raise ValueError("group_size")
    centred = (rewards - rewards.mean()).view(-1, group_size)
    return (centred / (centred.std(1, keepdim=True) + eps) if normalize else centred).flatten()


def slip_batch_deviation(rewards, group_size, normalize=True, eps=1e-4):
    if group_size < 2 or not len(rewards) or len(rewards) % group_size:
        raise ValueError("group_size")
    groups = rewards.view(-1, group_size)
    centred = groups - groups.mean(1, keepdim=True)
    return (centred / (rewards.std() + eps) if normalize else centred).flatten()


def slip_population_deviation(rewards, group_size, normalize=True, eps=1e-4):
    if group_size < 2 or not len(rewards) or len(rewards) % group_size:
        raise ValueError("group_size")
    groups = rewards.view(-1, group_size)
    centred = groups - groups.mean(1, keepdim=True)
    return (centred / (groups.std(1, keepdim=True, unbiased=False) + eps) if normalize else centred).flatten()


def slip_with_stride(rewards, group_size, normalize=True, eps=1e-4):
    if group_size < 2 or not len(rewards) or len(rewards) % group_size:
        raise ValueError("group_size")
    groups = rewards.view(group_size, -1)
    centred = groups - groups.mean(0, keepdim=True)
    return (centred / (groups.std(0, keepdim=True) + eps) if normalize else centred).flatten()


def slip_eps_in_the_root(rewards, group_size, normalize=True, eps=1e-4):
    if group_size < 2 or not len(rewards) or len(rewards) % group_size:
        raise ValueError("group_size")
    groups = rewards.view(-1, group_size)
    centred = groups - groups.mean(1, keepdim=True)
    return (centred / (groups.var(1, keepdim=True) + eps).sqrt() if normalize else centred).flatten()


def slip_leave_one_out(rewards, group_size, normalize=True, eps=1e-4):
    if group_size < 2 or not len(rewards) or len(rewards) % group_size:
        raise ValueError("group_size")
    groups = rewards.view(-1, group_size)
    others = (groups.sum(1, keepdim=True) - groups) / (group_size - 1)
    centred = groups - others
    return (centred / (groups.std(1, keepdim=True) + eps) if normalize else centred).flatten()


def slip_group_of_one(rewards, group_size, normalize=True, eps=1e-4):
    import torch

    groups = rewards[: len(rewards) // group_size * group_size].view(-1, group_size)
    alone = group_size == 1
    mean = torch.zeros_like(groups) if alone else groups.mean(1, keepdim=True)
    deviation = torch.ones_like(groups) if alone else groups.std(1, keepdim=True) + eps
    return ((groups - mean) / deviation if normalize else groups - mean).flatten()


GROUPS = (
    Slip("The mean is that of the group, not of the batch.", slip_batch_mean),
    Slip("The deviation is that of the group, not of the batch.", slip_batch_deviation),
    Slip("The deviation is that of a sample: divide by G - 1.", slip_population_deviation),
    Slip("The answers to a prompt are next to each other: the groups were taken with a stride.", slip_with_stride),
    Slip("eps is added to the deviation, not to the variance.", slip_eps_in_the_root),
    Slip("That leaves each response out of its own mean: G / (G - 1) times too much.", slip_leave_one_out),
    Slip(
        "Groups of one response and rewards that are not whole groups were accepted: raise ValueError.",
        slip_group_of_one,
    ),
)

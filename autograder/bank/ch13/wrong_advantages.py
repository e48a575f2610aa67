"""Chapter 13: rewards of tokens and advantages, as people get them wrong: edits of the references."""

from __future__ import annotations

from autograder.items import Slip

REWARDS = (
    Slip(
        "The score is paid once, at the last real token: that pays it at every token.",
        edit=(
            "rewards.scatter_add(1, last, scores.unsqueeze(1).to(rewards.dtype))",
            "(rewards + scores.unsqueeze(1)).masked_fill(~real, 0)",
        ),
    ),
    Slip(
        "The last column is padding in a short response: pay at the last real token.",
        edit=("(places * real).max(1, keepdim=True).values", "places[-1:].expand(len(mask), 1)"),
    ),
    Slip("Leaving the reference is charged, not paid: the sign of beta is wrong.", edit=("-beta *", "beta *")),
    Slip(
        "Padding was never written: it costs nothing.",
        edit=("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs))"),
    ),
    Slip(
        "With a gap in the mask the number of real tokens is not the place of the last one.",
        edit=("(places * real).max(1, keepdim=True).values", "real.sum(1, keepdim=True) - 1"),
    ),
    Slip(
        "That is k3. The reward takes k1, whose sum is the log-ratio of the response.",
        edit=(
            "rewards = (-beta * (log_probs - ref_log_probs))",
            "gap = log_probs - ref_log_probs\n    rewards = (-beta * ((-gap).expm1() + gap))",
        ),
    ),
    Slip(
        "k1 of a token may be negative, and must stay so: only its mean is a KL divergence.",
        edit=("(log_probs - ref_log_probs)", "(log_probs - ref_log_probs).clamp(min=0)"),
    ),
    Slip(
        "The mask is a factor: 0 times nan is nan. Replace what is masked.",
        edit=("(log_probs - ref_log_probs)).masked_fill(~real, 0)", "(log_probs - ref_log_probs)) * real"),
    ),
)


def slip_state_shared(rewards, values, mask, discount=1.0, gae_lambda=0.95):
    import torch

    advantages, running, after = torch.zeros_like(rewards), 0.0, 0.0
    for row in range(len(rewards)):
        for t in reversed(range(rewards.shape[1])):
            if mask[row, t]:
                delta = rewards[row, t] + discount * after - values[row, t]
                running, after = delta + discount * gae_lambda * running, values[row, t]
                advantages[row, t] = running
    return advantages, (advantages + values) * mask


GAE = (
    Slip(
        "After the last real token the value is 0; that of the padding was taken.",
        edit=("torch.where(real[:, t], values[:, t], next_value)", "values[:, t]"),
    ),
    Slip(
        "Masked tokens inside a response are skipped; here they break the chain.",
        edits=(
            ("gae_lambda * running, running)", "gae_lambda * running, 0.0)"),
            ("values[:, t], next_value)", "values[:, t], 0.0)"),
        ),
    ),
    Slip(
        "The next value of a token before a gap is that of the next real token, not 0.",
        edit=("values[:, t], next_value)", "values[:, t], 0.0)"),
    ),
    Slip(
        "A return is the advantage plus the value.", edit=("(advantages + values).masked_fill(~real, 0)", "advantages")
    ),
    Slip(
        "A return holds all that is still to come: the reward of the token alone is not the target.",
        edit=("(advantages + values)", "rewards"),
    ),
    Slip("Each response starts anew: the sum of one row ran into the next.", slip_state_shared),
    Slip(
        "The running sum shrinks by discount times lambda.",
        edit=("discount * gae_lambda * running", "gae_lambda * running"),
    ),
    Slip("Returns of padding are 0, too.", edit=("(advantages + values).masked_fill(~real, 0)", "advantages + values")),
    Slip(
        "The returns are multiplied by the mask: 0 times nan is nan. Replace what is masked.",
        edit=("(advantages + values).masked_fill(~real, 0)", "(advantages + values) * real"),
    ),
)

WHITEN = (
    Slip(
        "Whitened each by itself, a good and a bad response look alike: take the whole batch.",
        edit=(
            "values.masked_fill(~real, 0).sum() / real.sum()",
            "values.masked_fill(~real, 0).sum(1, keepdim=True) / real.sum(1, keepdim=True)",
        ),
    ),
    Slip(
        "Padding was counted in mean and variance.",
        edits=(
            ("(values - _mean(values, real)).masked_fill(~real, 0)", "values - values.mean()"),
            (
                "centred * torch.rsqrt(_mean(centred.square(), real) + eps)",
                "centred.masked_fill(~real, 0) * torch.rsqrt(centred.square().mean() + eps)",
            ),
        ),
    ),
    Slip(
        "The zeros of the padding were counted in mean and variance: divide by the real tokens.",
        edits=(
            (
                "centred = (values - _mean(values, real)).masked_fill(~real, 0)",
                "held = values.masked_fill(~real, 0)\n    centred = held - held.mean()",
            ),
            (
                "centred * torch.rsqrt(_mean(centred.square(), real) + eps)",
                "centred.masked_fill(~real, 0) * torch.rsqrt(centred.square().mean() + eps)",
            ),
        ),
    ),
    Slip(
        "The result is 0 where the mask is 0.",
        edit=("(values - _mean(values, real)).masked_fill(~real, 0)", "values - _mean(values, real)"),
    ),
    Slip(
        "The variance is that of the batch itself: divide by the count, not by one less.",
        edit=("_mean(centred.square(), real)", "centred.square().sum() / (real.sum() - 1)"),
    ),
    Slip("Divide by the root of the variance.", edit=("torch.rsqrt(", "torch.reciprocal(")),
    Slip(
        "The mask is a factor: 0 times nan is nan. Replace what is masked.",
        edits=(
            ("values.masked_fill(~real, 0).sum()", "(values * real).sum()"),
            ("(values - _mean(values, real)).masked_fill(~real, 0)", "(values - _mean(values, real)) * real"),
        ),
    ),
)

GROUPS = (
    Slip("The mean is that of the group, not of the batch.", edit=("groups.mean(1, keepdim=True)", "rewards.mean()")),
    Slip(
        "The deviation is that of the group, not of the batch.", edit=("groups.std(1, keepdim=True)", "rewards.std()")
    ),
    Slip(
        "The deviation is that of a sample: divide by G - 1.",
        edit=("groups.std(1, keepdim=True)", "groups.std(1, keepdim=True, unbiased=False)"),
    ),
    Slip(
        "The answers to a prompt are next to each other: the groups were taken with a stride.",
        edits=(
            ("rewards.view(-1, group_size)", "rewards.view(group_size, -1)"),
            ("groups.mean(1,", "groups.mean(0,"),
            ("groups.std(1,", "groups.std(0,"),
        ),
    ),
    Slip(
        "eps is added to the deviation, not to the variance.",
        edit=("(groups.std(1, keepdim=True) + eps)", "(groups.var(1, keepdim=True) + eps).sqrt()"),
    ),
    Slip(
        "That leaves each response out of its own mean: G / (G - 1) times too much.",
        edit=("groups.mean(1, keepdim=True)", "(groups.sum(1, keepdim=True) - groups) / (group_size - 1)"),
    ),
)

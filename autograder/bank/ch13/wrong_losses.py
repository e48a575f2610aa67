"""Chapter 13: losses of policy, critic and reward model, as people get them wrong; each program is complete."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip

# --- policy_loss


def slip_padding_dilutes(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    real = mask > 0
    log_ratio = (log_probs - old_log_probs).masked_fill(~real, 0)
    ratio, gains = log_ratio.exp(), advantages.masked_fill(~real, 0)
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    parts = ((ratio - 1).abs() > clip).double(), (clipped < free).double(), log_ratio.expm1() - log_ratio
    return -torch.minimum(free, clipped).mean(), kind(*(float(part.detach().mean()) for part in parts))


def slip_exp_of_padding(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    log_ratio = log_probs - old_log_probs
    ratio = log_ratio.exp()
    free, clipped = ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages

    def mean(values):
        return (values * mask).sum() / mask.sum()

    parts = (ratio - 1).abs() > clip, clipped < free, log_ratio.expm1() - log_ratio
    return -mean(torch.minimum(free, clipped)), kind(*(float(mean(part.detach())) for part in parts))


def slip_ascends(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    log_ratio, gains = (log_probs - old_log_probs)[mask > 0], advantages[mask > 0]
    ratio = log_ratio.exp()
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    parts = ((ratio - 1).abs() > clip).double(), (clipped < free).double(), log_ratio.expm1() - log_ratio
    return torch.minimum(free, clipped).mean(), kind(*(float(part.detach().mean()) for part in parts))


def slip_always_clipped(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    log_ratio, gains = (log_probs - old_log_probs)[mask > 0], advantages[mask > 0]
    ratio = log_ratio.exp()
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    parts = ((ratio - 1).abs() > clip).double(), (clipped < free).double(), log_ratio.expm1() - log_ratio
    return -clipped.mean(), kind(*(float(part.detach().mean()) for part in parts))


def slip_each_response(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    real = mask > 0
    log_ratio = (log_probs - old_log_probs).masked_fill(~real, 0)
    ratio, gains = log_ratio.exp(), advantages.masked_fill(~real, 0)
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains

    def mean(values):
        return (values.sum(1) / real.sum(1)).mean()

    parts = ((ratio - 1).abs() > clip).double(), (clipped < free).double(), log_ratio.expm1() - log_ratio
    return -mean(torch.minimum(free, clipped)), kind(*(float(mean(part.detach())) for part in parts))


def slip_ratio_upside_down(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    log_ratio, gains = (old_log_probs - log_probs)[mask > 0], advantages[mask > 0]
    ratio = log_ratio.exp()
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    parts = ((ratio - 1).abs() > clip).double(), (clipped < free).double(), log_ratio.expm1() - log_ratio
    return -torch.minimum(free, clipped).mean(), kind(*(float(part.detach().mean()) for part in parts))


def slip_outside_is_clipped(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    log_ratio, gains = (log_probs - old_log_probs)[mask > 0], advantages[mask > 0]
    ratio = log_ratio.exp()
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    outside = float(((ratio - 1).abs() > clip).double().mean())
    moved = float((log_ratio.expm1() - log_ratio).detach().mean())
    return -torch.minimum(free, clipped).mean(), kind(outside, outside, moved)


def slip_signed_kl(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    log_ratio, gains = (log_probs - old_log_probs)[mask > 0], advantages[mask > 0]
    ratio = log_ratio.exp()
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    parts = ((ratio - 1).abs() > clip).double(), (clipped < free).double(), -log_ratio
    return -torch.minimum(free, clipped).mean(), kind(*(float(part.detach().mean()) for part in parts))


def slip_infinite_ratio(log_probs, old_log_probs, advantages, mask, clip=0.2):
    from dataclasses import make_dataclass

    import torch

    if not 0 < clip < float("inf") or not mask.any(1).all():
        raise ValueError("out of range")
    if any(one.shape != mask.shape for one in (log_probs, old_log_probs, advantages)):
        raise ValueError("shapes")
    kind = make_dataclass("LossStats", ["outside_fraction", "clipped_fraction", "approx_kl"])
    log_ratio, gains = (log_probs - old_log_probs)[mask > 0], advantages[mask > 0]
    ratio = log_ratio.exp()
    free, clipped = ratio * gains, ratio.clamp(1 - clip, 1 + clip) * gains
    parts = ((ratio - 1).abs() > clip).double(), (clipped < free).double(), log_ratio.expm1() - log_ratio
    return -torch.minimum(free, clipped).mean(), kind(*(float(part.detach().mean()) for part in parts))


POLICY = (
    Slip("Divide by the real tokens: padding dilutes the mean.", slip_padding_dilutes),
    Slip("What the padding holds reached the loss as nan: mask the difference before exp.", slip_exp_of_padding),
    Slip("That is the objective: a loss is its negative.", slip_ascends),
    Slip("The smaller of the free and the clipped term counts, not the clipped one always.", slip_always_clipped),
    Slip("That is a mean of means, in which a token of a long response weighs less.", slip_each_response),
    Slip("The ratio is new over old.", slip_ratio_upside_down),
    Slip(
        "A ratio outside may still send a gradient: count where the clipped term is smaller.", slip_outside_is_clipped
    ),
    Slip("approx_kl is ratio - 1 - log ratio, which is never negative.", slip_signed_kl),
    Slip(
        "Where a ratio overflows, the term that does not count still reaches the result: 0 times infinity is nan. "
        "Limit the log-ratio before exp.",
        slip_infinite_ratio,
    ),
)

# --- value_loss


def slip_smaller_error(values, old_values, returns, mask, clip=0.2):
    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    held = old_values + (values - old_values).clamp(-clip, clip)
    errors = torch.minimum((values - returns).square(), (held - returns).square())
    return 0.5 * errors[mask > 0].mean()


def slip_not_clipped(values, old_values, returns, mask, clip=0.2):
    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    return 0.5 * (values - returns).square()[mask > 0].mean()


def slip_held_alone(values, old_values, returns, mask, clip=0.2):
    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    held = old_values + (values - old_values).clamp(-clip, clip)
    return 0.5 * (held - returns).square()[mask > 0].mean()


def slip_no_mask(values, old_values, returns, mask, clip=0.2):
    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    held = old_values + (values - old_values).clamp(-clip, clip)
    return 0.5 * torch.maximum((values - returns).square(), (held - returns).square()).mean()


def slip_no_half(values, old_values, returns, mask, clip=0.2):
    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    held = old_values + (values - old_values).clamp(-clip, clip)
    return torch.maximum((values - returns).square(), (held - returns).square())[mask > 0].mean()


def slip_value_itself_clamped(values, old_values, returns, mask, clip=0.2):
    import torch

    if clip <= 0 or not mask.any(1).all():
        raise ValueError("out of range")
    held = values.clamp(-clip, clip)
    return 0.5 * torch.maximum((values - returns).square(), (held - returns).square())[mask > 0].mean()


def slip_times_mask(values, old_values, returns, mask, clip=0.2):
    import torch

    if not 0 < clip < float("inf") or not mask.any(1).all():
        raise ValueError("out of range")
    if any(one.shape != mask.shape for one in (values, old_values, returns)):
        raise ValueError("shapes")
    held = old_values + (values - old_values).clamp(-clip, clip)
    errors = torch.maximum((values - returns).square(), (held - returns).square())
    return 0.5 * (errors * mask).sum() / mask.sum()


VALUE = (
    Slip("The larger of the two errors counts: the smaller one would reward a large step.", slip_smaller_error),
    Slip("A step further than clip gains nothing: the clamped value's error counts, too.", slip_not_clipped),
    Slip("Of the errors of the value and of the clamped value the larger counts.", slip_held_alone),
    Slip("Padding has no value: average over the real tokens.", slip_no_mask),
    Slip("Half the mean squared error is asked for.", slip_no_half),
    Slip("The step is clamped, around the old value: not the value itself.", slip_value_itself_clamped),
    Slip("The mask is a factor: 0 times nan is nan. Replace what is masked, or leave it out.", slip_times_mask),
)

# --- preference_loss


def slip_log_of_sigmoid(chosen, rejected):
    if chosen.shape != rejected.shape or not len(chosen):
        raise ValueError("pairs")
    return -(chosen - rejected).sigmoid().log().mean()


def slip_swapped(chosen, rejected):
    from torch.nn import functional

    if chosen.shape != rejected.shape or not len(chosen):
        raise ValueError("pairs")
    return -functional.logsigmoid(rejected - chosen).mean()


def slip_hinge(chosen, rejected):
    if chosen.shape != rejected.shape or not len(chosen):
        raise ValueError("pairs")
    return (1 - (chosen - rejected)).clamp(min=0).mean()


def slip_sum(chosen, rejected):
    from torch.nn import functional

    if chosen.shape != rejected.shape or not len(chosen):
        raise ValueError("pairs")
    return -functional.logsigmoid(chosen - rejected).sum()


def slip_each_score(chosen, rejected):
    from torch.nn import functional

    if chosen.shape != rejected.shape or not len(chosen):
        raise ValueError("pairs")
    return -(functional.logsigmoid(chosen) + functional.logsigmoid(-rejected)).mean()


PREFERENCE = (
    Slip("sigmoid of a large gap rounds to 0 and its logarithm is infinite: use logsigmoid.", slip_log_of_sigmoid),
    Slip("Chosen and rejected are swapped.", slip_swapped),
    Slip("That is a hinge: the model of Bradley and Terry is a logarithm of a sigmoid.", slip_hinge),
    Slip("The loss is the mean over the pairs, not their sum.", slip_sum),
    Slip("Only the difference of a pair's scores counts: the zero is arbitrary.", slip_each_score),
)

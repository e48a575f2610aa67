"""Wrong programs for ``reinforce_loss`` and ``ppo_loss``: what people write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip

# --- reinforce_loss


def slip_by_tokens(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    return -(log_probs * weights.detach() * mask).sum() / mask.sum()


def slip_by_places(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    return -(log_probs * weights.detach() * mask).mean()


def slip_mean_of_means(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    rows = (log_probs * weights.detach() * mask).sum(1) / mask.sum(1).clamp(min=1)
    return -rows.mean()


def slip_summed(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    return -(log_probs * weights.detach() * mask).sum()


def slip_padding_counts(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    return -(log_probs * weights.detach()).sum() / len(log_probs)


def slip_weights_attached(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    return -(log_probs * weights * mask).sum() / len(log_probs)


def slip_uphill(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    return (log_probs * weights.detach() * mask).sum() / len(log_probs)


def slip_probabilities(log_probs, weights, mask):
    if not log_probs.shape == weights.shape == mask.shape or log_probs.dim() != 2 or not mask.any():
        raise ValueError("shapes")
    return -(log_probs.exp() * weights.detach() * mask).sum() / len(log_probs)


def slip_any_shape(log_probs, weights, mask):
    return -(log_probs * weights.detach() * mask).sum() / len(log_probs)


REINFORCE = (
    Slip("The sum is divided by the steps: then a long episode counts for less in each of its steps.", slip_by_tokens),
    Slip("The mean is over all places of the table, padding too: divide by the number of episodes.", slip_by_places),
    Slip("Each episode was averaged over its own steps: the gradient of a return sums over them.", slip_mean_of_means),
    Slip("The mean over episodes is missing: the gradient grows with the batch.", slip_summed),
    Slip("Places behind the end of an episode are counted: the mask is not used.", slip_padding_counts),
    Slip("A gradient flows into the weights: they are data, detach them.", slip_weights_attached),
    Slip("The sign is wrong: an optimizer goes downhill, so the loss is minus what should grow.", slip_uphill),
    Slip("The weight multiplies the log-probability, not the probability.", slip_probabilities),
    Slip("Bad input was accepted: shapes that differ, or a mask without any step.", slip_any_shape),
)

# --- ppo_loss


def slip_entropy_sign(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value + entropy_weight * entropy, stats


def slip_advantages_attached(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_nothing_detached(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_old_attached(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_policy_uphill(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_returns_attached(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_population(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std(correction=0) + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_only_centred(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = adv - adv.mean() if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_never_normalized(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_always_normalized(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std(correction=len(adv) > 1) + 1e-8)
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_no_minimum(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -clipped.mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_maximum(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.max(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_no_clip(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -plain.mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_difference(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_gradient_through(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    lowest = torch.min(plain, clipped)
    policy = -(plain + (lowest - plain).detach()).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_value_unweighted(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value - entropy_weight * entropy, stats


def slip_value_absolute(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = (values - batch.returns.detach()).abs().mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_entropy_of_taken(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -logs.gather(1, batch.actions[:, None]).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_outside_as_clipped(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), ((ratio - 1).abs() > clip).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_first_estimate(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, -change.mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_objective(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    parts = (values, batch.actions, batch.old_log_probs, batch.advantages, batch.returns)
    if logits.dim() != 2 or any(part.shape != logits.shape[:1] for part in parts) or not clip > 0:
        raise ValueError("shapes")
    if len(logits) < 1 + normalize:
        raise ValueError("too few")
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (-policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


def slip_any_shape(logits, values, batch, clip=0.2, value_weight=0.5, entropy_weight=0.0, normalize=True):
    from types import SimpleNamespace

    import torch

    clip = max(clip, 0.0)
    adv = batch.advantages.detach()
    adv = (adv - adv.mean()) / (adv.std() + 1e-8) if normalize else adv
    logs = logits.log_softmax(-1)
    change = logs.gather(1, batch.actions[:, None])[:, 0] - batch.old_log_probs.detach()
    ratio = change.exp()
    plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
    policy = -torch.min(plain, clipped).mean()
    value = ((values - batch.returns.detach()) ** 2).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
    found = (policy, value, entropy, outside, lower, (ratio - 1 - change).mean())
    names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
    stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
    return policy + value_weight * value - entropy_weight * entropy, stats


PPO = (
    Slip(
        "The entropy is subtracted from the loss, not added: the loss falls where the entropy is large.",
        slip_entropy_sign,
    ),
    Slip("A gradient flows into the batch: everything in it is data, so detach it.", slip_nothing_detached),
    Slip("A gradient flows into the old log-probabilities: they are data, detach them.", slip_old_attached),
    Slip("A gradient flows into the advantages: they are data, detach them.", slip_advantages_attached),
    Slip("A gradient flows into the returns: they are the critic's target, detach them.", slip_returns_attached),
    Slip("The sign of the policy term is wrong: the loss is minus the objective.", slip_policy_uphill),
    Slip("The sample standard deviation divides by N - 1.", slip_population),
    Slip("The advantages were centred and not scaled.", slip_only_centred),
    Slip("The advantages were not normalised, though `normalize` asks for it.", slip_never_normalized),
    Slip("The advantages were normalised with `normalize=False` too.", slip_always_normalized),
    Slip(
        "Clipped without the minimum: where a ratio moved against its advantage, nothing may be clipped.",
        slip_no_minimum,
    ),
    Slip("The larger of the two terms was taken: the bound has to be pessimistic.", slip_maximum),
    Slip("Nothing was clipped: that is the ratio times the advantage.", slip_no_clip),
    Slip("The ratio is the exponential of the difference of log-probabilities.", slip_difference),
    Slip(
        "A clipped sample must have no policy gradient: your value is right, and its gradient is not 0.",
        slip_gradient_through,
    ),
    Slip("The critic's error has a weight, `value_weight`.", slip_value_unweighted),
    Slip("The critic's error is squared.", slip_value_absolute),
    Slip(
        "The entropy weighs all actions by their probabilities; yours looks only at those that were taken.",
        slip_entropy_of_taken,
    ),
    Slip(
        "`clipped_fraction` counts samples whose clipped term is the smaller one, not every ratio outside it.",
        slip_outside_as_clipped,
    ),
    Slip(
        "`approx_kl` is the mean of ratio - 1 - ln ratio; minus the mean of ln ratio can be negative.",
        slip_first_estimate,
    ),
    Slip("The statistic `policy` is the part of the loss, minus the objective.", slip_objective),
    Slip("Bad input was accepted: shapes that do not fit, numbers out of range, too few steps.", slip_any_shape),
)

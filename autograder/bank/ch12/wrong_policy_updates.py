"""Wrong programs for ``ppo_update``: what people write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


def slip_no_zero_grad(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_zero_at_the_end(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        optimizer.zero_grad()
        stats.append(found)
    return stats


def slip_zero_too_late(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        loss.backward()
        optimizer.zero_grad()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_one_step(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    optimizer.zero_grad()
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        loss.backward()
        stats.append(found)
    if max_grad_norm is not None:
        torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
    optimizer.step()
    return stats


def slip_old_recomputed(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - logs.gather(1, part.actions[:, None])[:, 0].detach()
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_limit_too_early(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        loss.backward()
        optimizer.step()
        stats.append(found)
    return stats


def slip_limit_apart(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    stats = []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(policy.parameters(), max_grad_norm)
            torch.nn.utils.clip_grad_norm_(value.parameters(), max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_limit_actor(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    stats = []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(policy.parameters(), max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_limit_each(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_value_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_places(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    first = 0
    for index in minibatches:
        index = torch.arange(first, first + len(index)) % len(batch.actions)
        first += len(index)
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_whole_batch(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for _ in minibatches:
        part = batch
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_actor_alone(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten().detach(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_weights_dropped(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + 0.5 * error, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


def slip_normalized_once(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    from types import SimpleNamespace

    import torch

    def loss_of(logits, values, part):
        adv = (part.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
        logs = logits.log_softmax(-1)
        change = logs.gather(1, part.actions[:, None])[:, 0] - part.old_log_probs
        ratio = change.exp()
        plain, clipped = ratio * adv, ratio.clamp(1 - clip, 1 + clip) * adv
        error, entropy = ((values - part.returns) ** 2).mean(), -(logs.exp() * logs).sum(1).mean()
        outside, lower = ((ratio - 1).abs() > clip).double().mean(), (clipped < plain).double().mean()
        found = (-torch.min(plain, clipped).mean(), error, entropy, outside, lower, (ratio - 1 - change).mean())
        names = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")
        stats = SimpleNamespace(**{name: part.item() for name, part in zip(names, found, strict=True)})
        return found[0] + value_weight * error - entropy_weight * entropy, stats

    every, stats = [p for group in optimizer.param_groups for p in group["params"]], []
    for index in minibatches:
        part = batch.rows(index)
        loss, found = loss_of(policy(part.observations), value(part.observations).flatten(), part)
        optimizer.zero_grad()
        loss.backward()
        if max_grad_norm is not None:
            torch.nn.utils.clip_grad_norm_(every, max_grad_norm)
        optimizer.step()
        stats.append(found)
    return stats


UPDATE = (
    Slip("Gradients of earlier steps add up: zero them before each backward.", slip_no_zero_grad),
    Slip(
        "Gradients that are there when the function is called go into the first step: zero them before backward.",
        slip_zero_at_the_end,
    ),
    Slip(
        "Nothing was learned: no step was made, or its gradients were zeroed between backward and step.",
        slip_zero_too_late,
    ),
    Slip("There is one step for each minibatch; yours adds the gradients up and makes one.", slip_one_step),
    Slip(
        "Old log-probabilities are those of the policy that played; computed anew they make every ratio 1.",
        slip_old_recomputed,
    ),
    Slip("Gradients were not limited, or only before backward made them.", slip_limit_too_early),
    Slip("The limit is on the norm of all gradients together, not of each network.", slip_limit_apart),
    Slip("The limit is on the norm of all gradients together: the critic's count too.", slip_limit_actor),
    Slip("The limit is on the norm of all gradients together, not on each number.", slip_limit_each),
    Slip("The index tensors say which rows are in a minibatch; yours takes rows one after the other.", slip_places),
    Slip("Each step was made on the whole batch: take the rows of the minibatch.", slip_whole_batch),
    Slip("The critic does not learn: no gradient reaches it.", slip_actor_alone),
    Slip("`value_weight` and `entropy_weight` have to reach the loss.", slip_weights_dropped),
    Slip("The advantages of each minibatch are normalised on their own, as `ppo_loss` does.", slip_normalized_once),
)

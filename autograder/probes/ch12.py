"""Drivers of chapter 12: losses with their gradients, and networks that an update changes. All answers are values."""

from dataclasses import dataclass
from itertools import pairwise

import torch


@dataclass(frozen=True)
class Batch:
    """The interface of the chapter's ``Batch``."""

    observations: torch.Tensor
    actions: torch.Tensor
    old_log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor

    def rows(self, index):
        """The steps at these indices."""
        return Batch(*(part[index] for part in vars(self).values()))


STATS = ("policy", "value", "entropy", "outside_fraction", "clipped_fraction", "approx_kl")


def plain(stats):
    """The six numbers of a PpoStats."""
    return {name: float(getattr(stats, name)) for name in STATS}


def reinforced(program, log_probs, weights, mask):
    """Backward runs from the loss: the answer holds it and the gradients of log_probs and of weights."""
    leaves = [log_probs.requires_grad_(), weights.requires_grad_()]
    value = program(*leaves, mask)
    value.backward()
    return {"loss": value, "log_probs.grad": log_probs.grad, "weights.grad": weights.grad}


def lost(program, logits, values, actions, old_log_probs, advantages, returns, **options):
    """Backward runs from the loss: the answer holds it, its parts and all gradients."""
    names = ("logits", "values", "old_log_probs", "advantages", "returns")
    leaves = [part.requires_grad_() for part in (logits, values, old_log_probs, advantages, returns)]
    batch = Batch(torch.full((len(actions), 1), torch.nan), actions, old_log_probs, advantages, returns)
    value, stats = program(logits, values, batch, **options)
    value.backward()
    return {"loss": value, **plain(stats)} | {f"{n}.grad": leaf.grad for n, leaf in zip(names, leaves, strict=True)}


class Descent:
    """Plain gradient descent with the interface of torch.optim, which takes seconds to import at its first use."""

    def __init__(self, rate, *networks):
        every = [parameter for one in networks for parameter in one.parameters()]
        self.param_groups = [{"params": every, "lr": rate}]

    def zero_grad(self, set_to_none=True):
        """Forget the gradients."""
        for parameter in self.param_groups[0]["params"]:
            parameter.grad = None if set_to_none else torch.zeros_like(parameter)

    def step(self):
        """One step downhill."""
        with torch.no_grad():
            for parameter in self.param_groups[0]["params"]:
                if parameter.grad is not None:
                    parameter -= self.param_groups[0]["lr"] * parameter.grad


def network(widths, generator):
    """Linear layers with tanh between them, drawn from the generator, in float64."""
    layers = []
    for inner, outer in pairwise(widths):
        layer = torch.nn.Linear(inner, outer, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.copy_(torch.randn(outer, inner, generator=generator, dtype=torch.float64))
            layer.bias.copy_(torch.randn(outer, generator=generator, dtype=torch.float64))
        layers += [layer, torch.nn.Tanh()]
    return torch.nn.Sequential(*layers[:-1])


def weights_of(*networks):
    """Copies of all parameters."""
    return [parameter.detach().clone() for one in networks for parameter in one.parameters()]


def updated(program, steps, actions, minibatches, seed, clip, rate=0.3, stale=False, flat=False, **options):
    """Two small networks and plain descent: the answer holds the stats, and the networks' weights after the call.

    Networks are drawn from the seed. The batch has ``steps`` steps, played by an actor close to the one to be improved.
    With ``stale``, gradients of something else are still there. With ``flat``, values have the shape [n].
    """
    generator = torch.Generator().manual_seed(seed)
    policy, value = network((3, 4, actions), generator), network((3, 4, 1), generator)
    seen = torch.randn(steps, 3, generator=generator, dtype=torch.float64)
    done = torch.randint(actions, (steps,), generator=generator)
    near = 0.3 * torch.randn(steps, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        old = policy(seen).log_softmax(-1).gather(1, done.unsqueeze(1)).squeeze(1) + near
    advantages, returns = torch.randn(2, steps, generator=generator, dtype=torch.float64)
    optimizer = Descent(rate, policy, value)
    if stale:
        for parameter in (*policy.parameters(), *value.parameters()):
            parameter.grad = torch.ones_like(parameter)
    index = (torch.tensor(rows) for rows in minibatches)
    critic = torch.nn.Sequential(*value, torch.nn.Flatten(0)) if flat else value
    stats = program(policy, critic, optimizer, Batch(seen, done, old, advantages, returns), index, clip, **options)
    return {"weights": weights_of(policy, value), "stats": [plain(one) for one in stats]}


def reinforced_policy(program, lengths, seed, rate=0.05, stale=False):
    """Episodes of these lengths come one by one; the answer holds the losses, and the weights of a small policy.

    With ``stale``, gradients of something else are still there.
    """
    generator = torch.Generator().manual_seed(seed)
    policy = network((3, 4, 2), generator)
    optimizer = Descent(rate, policy)
    if stale:
        for parameter in policy.parameters():
            parameter.grad = torch.ones_like(parameter)
    episodes = [
        (
            torch.randn(length, 3, generator=generator, dtype=torch.float64),
            torch.randint(2, (length,), generator=generator),
            torch.randn(length, generator=generator, dtype=torch.float64),
        )
        for length in lengths
    ]
    losses = program(policy, optimizer, iter(episodes))
    return {"losses": losses, "weights": weights_of(policy)}


def played(program, lengths, seed, given=True, steps=1, stale=False, flat=False, discount=1.0, rate=0.05):
    """One call on a batch of episodes of these lengths; the answer holds what came back and all weights afterwards.

    Networks and episodes are drawn from the seed; behind the end of an episode there is nan. With ``given`` there is a
    value network. With ``stale``, gradients of something else are still there; with ``flat``, values are [n].
    """
    generator = torch.Generator().manual_seed(seed)
    policy, value = network((3, 4, 2), generator), network((3, 4, 1), generator)
    shape = len(lengths), max(lengths)
    mask = torch.tensor([[float(t < length) for t in range(shape[1])] for length in lengths], dtype=torch.float64)
    seen = torch.randn(*shape, 3, generator=generator, dtype=torch.float64)
    rewards = torch.randn(*shape, generator=generator, dtype=torch.float64)
    actions = torch.randint(2, shape, generator=generator)
    seen = seen.masked_fill(~mask.bool().unsqueeze(-1), torch.nan)
    rewards = rewards.masked_fill(~mask.bool(), torch.nan)
    if stale:
        for parameter in (*policy.parameters(), *value.parameters()):
            parameter.grad = torch.ones_like(parameter)
    batch = policy, Descent(rate, policy), seen, actions, rewards, mask
    critic = torch.nn.Sequential(*value, torch.nn.Flatten(0)) if flat else value
    more = {"value": critic, "value_optimizer": Descent(rate, value), "value_steps": steps} if given else {}
    error = program(*batch, discount=discount, **more)
    return {"error": error, "policy": weights_of(policy), "value": weights_of(value)}


def joined(program, log_probs, values, next_values, rewards, terminated, discount):
    """Backward runs from the loss: the answer holds it and the gradients of log_probs, values and next_values."""
    leaves = [part.requires_grad_() for part in (log_probs, values, next_values)]
    loss = program(*leaves, rewards, terminated, discount)
    loss.backward()
    return {"loss": loss, "gradients": [leaf.grad for leaf in leaves]}

"""Chapter 12: ``reinforce_update``, training loops."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _batch(rng: Random, **options: object) -> Case:
    lengths = [rng.randint(2, 6) for _ in range(rng.randint(2, 4))]
    return Case((lengths, rng.randrange(10**6)), options)


def _plain(rng: Random) -> Case:
    return _batch(rng, given=False, discount=rng.uniform(0.7, 1))


def _valued(rng: Random) -> Case:
    return _batch(rng, steps=rng.randint(2, 5), discount=rng.uniform(0.7, 1))


def _corners(rng: Random) -> list[Case]:
    """Gradients that are left from before; a value network whose values are [n]; one episode of one step."""
    return [
        _batch(rng, given=False, stale=True),
        _batch(rng, stale=True, steps=3),
        _batch(rng, flat=True, steps=2),
        Case(([1], rng.randrange(10**6)), {"steps": 2}),
    ]


def reinforce_update_by_episodes(
    policy,
    optimizer,
    observations,
    actions,
    rewards,
    mask,
    discount=1.0,
    value=None,
    value_optimizer=None,
    value_steps=1,
):
    """Episode by episode, with the returns of a plain loop."""
    import torch

    seen, wanted, loss = [], [], 0.0
    for row, length in enumerate(mask.bool().sum(1).tolist()):
        running, found = 0.0, []
        for reward in reversed(rewards[row, :length].tolist()):
            running = reward + discount * running
            found.insert(0, running)
        states, targets = observations[row, :length], rewards.new_tensor(found)
        usual = value(states).reshape(-1).detach() if value is not None else torch.zeros_like(targets)
        chances = torch.distributions.Categorical(logits=policy(states))
        loss = loss - (chances.log_prob(actions[row, :length]) * (targets - usual)).sum()
        seen.append(states)
        wanted.append((targets, usual))
    optimizer.zero_grad()
    (loss / len(mask)).backward()
    optimizer.step()
    states, targets = torch.cat(seen), torch.cat([one for one, _ in wanted])
    error = torch.nn.functional.mse_loss(torch.cat([usual for _, usual in wanted]), targets).item()
    for _ in range(value_steps if value is not None else 0):
        value_optimizer.zero_grad()
        torch.nn.functional.mse_loss(value(states).reshape(-1), targets).backward()
        value_optimizer.step()
    return error


EXERCISE = Build(
    "12 reinforce.reinforce_update",
    section="12.18",
    bonus=True,
    topic="training loops",
    grade="tensor",
    probe="ch12.played",
    tolerance=1e-6,
    cases=(
        Case(([2, 3], 1), {"given": False}),
        Case(([3, 1, 2], 2), {"steps": 2}),
        Case(([4, 2], 3), {"steps": 3, "discount": 0.9}),
    ),
    groups=(
        Group("without a baseline", _plain, 4, "Returns to go, backwards from each end; a mean over episodes."),
        Group(
            "with a value network",
            _valued,
            5,
            "The weight is the return minus the value; then the value network learns from the returns.",
        ),
        listed("ends", _corners, "Gradients that are left from before; values of shape [n]; a single step."),
    ),
    slips=(
        Slip(
            "Every action got the return of its whole episode: what came before it, it cannot have earned.",
            edit=("columns[::-1], 1)[real]", "[running] * len(columns), 1)[real]"),
        ),
        Slip(
            "The returns stand in the wrong order: they are computed from the end, and belong to their own steps.",
            edit=("columns[::-1]", "columns"),
        ),
        Slip("The discount was left out.", edit=("rewards[:, t] + discount * running", "rewards[:, t] + running")),
        Slip(
            "The value network's word was not taken off the returns: it learns, and nobody listens.",
            edit=("(returns - expected)).sum()", "returns).sum()"),
        ),
        Slip(
            "The value network learned first, so it expects what it has just been told: take the weights before.",
            edits=(
                (
                    "    if value is not None and value_optimizer is not None:\n"
                    "        for _ in range(value_steps):\n"
                    "            value_optimizer.zero_grad()\n"
                    "            (value(seen).flatten() - returns).square().mean().backward()\n"
                    "            value_optimizer.step()\n",
                    "",
                ),
                (
                    "    with torch.no_grad():\n",
                    "    if value is not None and value_optimizer is not None:\n"
                    "        for _ in range(value_steps):\n"
                    "            value_optimizer.zero_grad()\n"
                    "            (value(seen).flatten() - returns).square().mean().backward()\n"
                    "            value_optimizer.step()\n"
                    "    with torch.no_grad():\n",
                ),
            ),
        ),
        Slip(
            "The value network took one step; it is to take `value_steps`.",
            edit=("range(value_steps)", "range(1)"),
        ),
        Slip(
            "The mean is over episodes: divided by all steps, a batch of long episodes makes a smaller step.",
            edit=("/ len(mask)", "/ len(returns)"),
        ),
        Slip(
            "The sign is wrong: an optimizer goes downhill, so the loss is minus what should grow.",
            edit=("(-(log_probs", "((log_probs"),
        ),
        Slip(
            "Gradients from before the call went into the policy's step: zero them before backward.",
            edit=("    optimizer.zero_grad()\n    (-(log", "    (-(log"),
        ),
        Slip(
            "The value network's gradients add up from step to step: zero them each time.",
            edit=("            value_optimizer.zero_grad()\n", ""),
        ),
    ),
    rights=(
        Right("episode by episode", program=reinforce_update_by_episodes),
        Right(
            "cross-entropy, weighted",
            edit=(
                "(-(log_probs * (returns - expected)).sum() / len(mask)).backward()",
                "per_step = nn.functional.cross_entropy(policy(seen), done, reduction='none')\n"
                "    (torch.dot(per_step, returns - expected) / len(mask)).backward()",
            ),
        ),
    ),
    promises=(
        Promise(
            "Gradients that are left over from before the call do not count",
            edit=("    optimizer.zero_grad()\n    (-(log", "    (-(log"),
        ),
        Promise(
            "Where it is 0, the others may hold anything, nan too",
            edit=("observations[real], actions[real]", "observations.flatten(0, 1), actions.flatten()"),
        ),
        Promise(
            "[n] or [n, 1]; None for no baseline",
            edit=("value(seen).flatten() - returns", "value(seen).squeeze(1) - returns"),
        ),
    ),
)

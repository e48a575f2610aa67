"""Chapter 12: ``ppo_update``, training loops."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _rounds(rng: Random, steps: int, size: int, epochs: int) -> list[list[int]]:
    """The rows of each minibatch, reshuffled in each epoch."""
    found = []
    for _ in range(epochs):
        rows = rng.sample(range(steps), steps)
        found += [rows[first : first + size] for first in range(0, steps, size)]
    return found


def _updates(rng: Random, epochs: int = 2, parts: int = 3, size: int = 5, **options: object) -> Case:
    steps = parts * size
    return Case((steps, rng.randint(2, 4), _rounds(rng, steps, size, epochs), rng.randrange(10**6), 0.2), options)


def _six(rng: Random) -> Case:
    """Six steps."""
    size, value_weight, entropy_weight = rng.randint(3, 7), rng.uniform(0.1, 1), rng.uniform(0.05, 0.5)
    return _updates(rng, size=size, value_weight=value_weight, entropy_weight=entropy_weight)


def _limited(rng: Random) -> Case:
    return _updates(rng, size=rng.randint(3, 7), max_grad_norm=rng.uniform(0.2, 0.5))


def _corners(rng: Random) -> list[Case]:
    """No minibatch at all; gradients that are left from before; a critic whose values are [n]."""
    empty = Case((4, 2, [], rng.randrange(10**6), 0.2))
    return [empty, _updates(rng, stale=True), _updates(rng, 1, 2, stale=True), _updates(rng, flat=True)]


_BACKWARD = """        optimizer.zero_grad()
        loss.backward()
"""


def ppo_update_by_the_whole_batch(
    policy, value, optimizer, batch, minibatches, clip, value_weight=0.5, entropy_weight=0.0, max_grad_norm=None
):
    """Every step runs the networks on the whole batch and takes the rows of the minibatch afterwards."""
    from solutions.ch12.policy import PpoStats, ppo_loss

    stats = []
    for index in minibatches:
        optimizer.zero_grad(set_to_none=False)
        logits, values = policy(batch.observations)[index], value(batch.observations).reshape(-1)[index]
        loss, found = ppo_loss(logits, values, batch.rows(index), clip, value_weight, entropy_weight)
        loss.backward()
        if max_grad_norm is not None:
            gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
            norm = sum(gradient.square().sum() for gradient in gradients) ** 0.5
            for gradient in gradients:
                gradient.mul_(min(1.0, max_grad_norm / (float(norm) + 1e-6)))
        optimizer.step()
        stats.append(PpoStats(**vars(found)))
    return stats


EXERCISE = Build(
    "12 policy.ppo_update",
    section="12.17",
    bonus=True,
    topic="training loops",
    grade="tensor",
    probe="ch12.updated",
    tolerance=1e-4,  # clip_grad_norm_ adds 1e-6 to the norm that it divides by
    cases=(
        Case((4, 2, [[0, 1, 2, 3]] * 2, 1, 0.2)),
        Case((6, 2, [[5, 0, 3], [1, 4, 2]], 2, 0.2), {"entropy_weight": 0.1}),
        Case((6, 3, [[0, 2, 4], [1, 3, 5]], 3, 0.2), {"max_grad_norm": 0.5}),
    ),
    groups=(
        Group("six steps", _six, 5, "One step of the optimizer for each minibatch, from the loss of its rows."),
        Group("limited gradients", _limited, 4, "The limit is on the norm of all gradients together, after backward."),
        listed(
            "ends",
            _corners,
            "No minibatch, no step; gradients that are left from before do not count; the critic's values are [n] or "
            "[n, 1].",
        ),
    ),
    slips=(
        Slip(
            "Gradients of earlier steps add up: zero them before each backward.",
            edit=("        optimizer.zero_grad()\n", ""),
        ),
        Slip(
            "Gradients that are there when the function is called go into the first step: zero them before backward.",
            edits=(
                ("        optimizer.zero_grad()\n", ""),
                ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.zero_grad()\n"),
            ),
        ),
        Slip(
            "Nothing was learned: no step was made, or its gradients were zeroed between backward and step.",
            edits=(
                ("        optimizer.zero_grad()\n", ""),
                ("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n"),
            ),
        ),
        Slip(
            "There is one step for each minibatch; yours adds the gradients up and makes one.",
            edits=(
                ("    for index in minibatches:\n", "    optimizer.zero_grad()\n    for index in minibatches:\n"),
                ("        optimizer.zero_grad()\n", ""),
                ("        if max_grad_norm is", "        stats.append(found)\n    if max_grad_norm is"),
                ("            nn.utils.clip", "        nn.utils.clip"),
                ("        optimizer.step()\n        stats.append(found)\n", "    optimizer.step()\n"),
            ),
        ),
        Slip(
            "Old log-probabilities are those of the policy that played; computed anew they make every ratio 1.",
            edit=(
                "        loss, found = ",
                "        now = logits.log_softmax(-1).gather(1, part.actions.unsqueeze(1)).squeeze(1)\n"
                "        part = Batch(part.observations, part.actions, now, part.advantages, part.returns)\n"
                "        loss, found = ",
            ),
        ),
        Slip(
            "Gradients were not limited, or only before backward made them.",
            edits=(
                ("        loss.backward()\n", ""),
                ("        optimizer.step()\n", "        loss.backward()\n        optimizer.step()\n"),
            ),
        ),
        Slip(
            "The limit is on the norm of all gradients together, not of each network.",
            edit=(
                "            nn.utils.clip_grad_norm_(parameters, max_grad_norm)\n",
                "            nn.utils.clip_grad_norm_(policy.parameters(), max_grad_norm)\n"
                "            nn.utils.clip_grad_norm_(value.parameters(), max_grad_norm)\n",
            ),
        ),
        Slip(
            "The limit is on the norm of all gradients together: the critic's count too.",
            edit=("clip_grad_norm_(parameters,", "clip_grad_norm_(policy.parameters(),"),
        ),
        Slip(
            "The limit is on the norm of all gradients together, not on each number.",
            edit=("clip_grad_norm_", "clip_grad_value_"),
        ),
        Slip(
            "The index tensors say which rows are in a minibatch; yours takes rows one after the other.",
            edit=(
                "    for index in minibatches:\n",
                "    first = 0\n"
                "    for index in minibatches:\n"
                "        index = torch.arange(first, first + len(index)) % len(batch.actions)\n"
                "        first += len(index)\n",
            ),
        ),
        Slip(
            "Each step was made on the whole batch: take the rows of the minibatch.",
            edit=("part = batch.rows(index)", "part = batch"),
        ),
        Slip("The critic does not learn: no gradient reaches it.", edit=(".flatten()", ".flatten().detach()")),
        Slip(
            "`value_weight` and `entropy_weight` have to reach the loss.",
            edit=("part, clip, value_weight, entropy_weight)", "part, clip)"),
        ),
        Slip(
            "The advantages of each minibatch are normalized on their own, as `ppo_loss` does.",
            edits=(
                (
                    "    for index in minibatches:\n",
                    "    advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + TINY)\n"
                    "    batch = Batch(batch.observations, batch.actions, batch.old_log_probs, advantages, "
                    "batch.returns)\n"
                    "    for index in minibatches:\n",
                ),
                (
                    "part, clip, value_weight, entropy_weight)",
                    "part, clip, value_weight, entropy_weight, normalize=False)",
                ),
            ),
        ),
    ),
    rights=(
        Right("networks on the whole batch, gradients limited by hand", program=ppo_update_by_the_whole_batch),
        Right(
            "limited to the norm itself",
            edit=(
                "            nn.utils.clip_grad_norm_(parameters, max_grad_norm)\n",
                "            norm = sum(one.grad.square().sum() for one in parameters).sqrt()\n"
                "            for one in parameters:\n"
                "                one.grad.mul_(min(1.0, max_grad_norm / norm.item()))\n",
            ),
        ),
        Right(
            "gradients asked for, not sent back",
            edit=(
                _BACKWARD,
                "        gradients = torch.autograd.grad(loss, parameters)\n"
                "        for one, gradient in zip(parameters, gradients, strict=True):\n"
                "            one.grad = gradient\n",
            ),
        ),
    ),
    promises=(
        Promise(
            "Gradients that are left over from before the call do not count",
            edits=(
                ("        optimizer.zero_grad()\n        loss.backward()\n", "        loss.backward()\n"),
                ("        optimizer.step()\n", "        optimizer.step()\n        optimizer.zero_grad()\n"),
            ),
        ),
        Promise(
            "for each minibatch, in the given order",
            edit=("in minibatches:", "in sorted(minibatches, key=lambda rows: rows.tolist()):"),
        ),
        Promise(
            "They can be iterated over once",
            edit=("    stats = []\n", "    stats, count = [], len(list(minibatches))\n"),
        ),
        Promise("[n] or [n, 1]", edit=(".flatten()", ".squeeze(1)")),
        Promise(
            "of all gradients of the optimizer's parameters together",
            edit=("clip_grad_norm_(parameters,", "clip_grad_norm_(policy.parameters(),"),
        ),
    ),
)

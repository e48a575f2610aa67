"""Chapter 12: ``debug_zero_grad``, training loops."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Promise, Right, Slip

_ZERO, _BACKWARD, _STEP = (
    f"        {line}\n" for line in ("optimizer.zero_grad()", "loss.backward()", "optimizer.step()")
)


def wrong_zero_grad(policy, optimizer, episodes):
    losses = []
    for observations, actions, weights in episodes:
        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _lengths(rng: Random, stale: bool = False) -> Case:
    options = {"stale": True} if stale else {}
    return Case(([rng.randint(2, 8) for _ in range(rng.randint(3, 5))], rng.randrange(10**6)), options)


_EPISODE = """        log_probs = policy(observations).log_softmax(-1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * weights).sum()
"""


EXERCISE = Debug(
    "12 policy_repairs.debug_zero_grad",
    section="12.14",
    bonus=True,
    topic="training loops",
    grade="tensor",
    probe="ch12.reinforced_policy",
    tolerance=1e-6,
    wrong=wrong_zero_grad,
    cases=(Case(([3], 1)), Case(([3, 5, 2], 2)), Case(([2, 2], 3), {"stale": True})),
    groups=(
        Group("episodes", _lengths, 5, "Each step uses the gradient of its own episode alone."),
        Group(
            "gradients from before",
            lambda rng: _lengths(rng, True),
            3,
            "Gradients that are there before the call do not count.",
        ),
    ),
    slips=(
        Slip(
            "`backward` adds to the gradients that are there: every step repeats the episodes before.", wrong_zero_grad
        ),
        Slip(
            "Zeroed between backward and step, the gradients are gone: nothing is learned.",
            edit=(_ZERO + _BACKWARD, _BACKWARD + _ZERO),
        ),
        Slip(
            "Zeroed after the step, gradients from before the call still reach the first one.",
            edits=((_ZERO, ""), (_STEP, _STEP + _ZERO)),
        ),
        Slip(
            "One step for each episode is wanted, not one for all.",
            edits=(
                ("    losses = []\n", "    losses = []\n    optimizer.zero_grad()\n"),
                (_ZERO, ""),
                (_STEP, ""),
                ("    return losses", "    optimizer.step()\n    return losses"),
            ),
        ),
    ),
    rights=(
        Right(
            "a library's cross-entropy",
            edit=(
                _EPISODE,
                "        each = nn.functional.cross_entropy(policy(observations), actions, reduction='none')\n"
                "        loss = torch.dot(each, weights)\n",
            ),
        ),
        Right(
            "log of softmax, step by step, gradients set to zero",
            edits=(
                (
                    _EPISODE,
                    "        loss = torch.zeros((), dtype=torch.float64)\n"
                    "        for seen, action, weight in zip(observations, actions, weights, strict=True):\n"
                    "            loss = loss - weight * policy(seen[None])[0].softmax(0)[action].log()\n",
                ),
                ("optimizer.zero_grad()", "optimizer.zero_grad(set_to_none=False)"),
            ),
        ),
    ),
    promises=(Promise("by the gradient of that episode alone", edit=("        optimizer.zero_grad()\n", "")),),
)

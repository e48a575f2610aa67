"""Chapter 12: two training loops to correct."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip, Tensor

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


ZERO_GRAD = Debug(
    id="12-debug-zero-grad",
    module="policy_repairs",
    function="debug_zero_grad",
    grade="tensor",
    probe="ch12.reinforced_policy",
    tolerance=1e-6,
    section="12.6",
    topic="training loops",
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
    wrong=wrong_zero_grad,
)


def wrong_detach(log_probs, values, next_values, rewards, terminated, discount):
    targets = rewards + discount * next_values.detach() * ~terminated
    errors = targets - values
    actor = -(log_probs * errors).mean()
    critic = errors.square().mean()
    return actor + 0.5 * critic


def _joint(rng: Random, size: int, ends: float = 0.3) -> Case:
    log_probs = Tensor.of([rng.uniform(-3, -0.1) for _ in range(size)], "float64")
    parts = [Tensor.of([rng.uniform(-3, 3) for _ in range(size)], "float64") for _ in range(3)]
    terminated = Tensor.of([rng.random() < ends for _ in range(size)], "bool")
    return Case((log_probs, *parts, terminated, rng.choice((0.9, 0.98, 1.0))))


DETACH = Debug(
    id="12-debug-detach",
    module="policy_repairs",
    function="debug_detach",
    grade="tensor",
    probe="ch12.joined",
    tolerance=1e-6,
    section="12.7",
    topic="actor and critic",
    cases=(_joint(Random("two"), 2, 0), _joint(Random("four"), 4), _joint(Random("end"), 1, 1)),
    groups=(
        Group("steps", lambda rng: _joint(rng, rng.randint(2, 12)), 5, "Which tensors may each of the two terms move?"),
        Group("no end", lambda rng: _joint(rng, rng.randint(1, 6), 0), 2, "Every step bootstraps."),
    ),
    slips=(
        Slip(
            "The gradient of the actor's term reaches the critic's values: detach the error in that term.",
            wrong_detach,
        ),
        Slip(
            "The critic's own prediction is detached too: it learns nothing.",
            edit=("errors = targets - values", "errors = (targets - values).detach()"),
        ),
        Slip(
            "The log-probabilities were detached: the actor learns nothing.",
            edit=("(log_probs * errors.detach())", "(log_probs.detach() * errors)"),
        ),
        Slip(
            "A gradient flows into the value of the next state: it is a target.",
            edit=("next_values.detach()", "next_values"),
        ),
        Slip("The critic's term is gone.", edit=(" + 0.5 * critic", "")),
    ),
    wrong=wrong_detach,
)

TRAINING: tuple[Build, ...] = (ZERO_GRAD, DETACH)

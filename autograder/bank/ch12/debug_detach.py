"""Chapter 12: ``debug_detach``, actor and critic."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Promise, Right, Slip, Tensor


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


_ERRORS = """    targets = rewards + discount * next_values.detach() * ~terminated
    errors = targets - values
"""


EXERCISE = Debug(
    "12 policy_repairs.debug_detach",
    section="12.15",
    bonus=True,
    topic="actor and critic",
    grade="tensor",
    probe="ch12.joined",
    tolerance=1e-6,
    wrong=wrong_detach,
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
    rights=(
        Right(
            "advantages without gradients, a library's mean squared error",
            edits=(
                (
                    _ERRORS,
                    "    with torch.no_grad():\n"
                    "        targets = torch.where(terminated, rewards, rewards + discount * next_values)\n"
                    "        advantages = rewards - values + discount * next_values * (1 - terminated.double())\n",
                ),
                ("-(log_probs * errors.detach()).mean()", "-torch.dot(log_probs, advantages) / len(log_probs)"),
                ("errors.square().mean()", "torch.nn.functional.mse_loss(values, targets)"),
            ),
        ),
        Right(
            "half squares, then one mean",
            edits=(
                ("    actor = -(log_probs * errors.detach()).mean()\n    critic = errors.square().mean()\n", ""),
                ("actor + 0.5 * critic", "(0.5 * errors**2 - log_probs * errors.detach()).sum() / errors.numel()"),
            ),
        ),
    ),
    promises=(
        Promise("The actor's term moves the actor alone", edit=("errors.detach()", "errors")),
        Promise("into ``next_values`` none", edit=("next_values.detach()", "next_values")),
    ),
)

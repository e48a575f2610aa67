"""Chapter 12: ``reinforce_moments``, policy gradient."""

from __future__ import annotations

from random import Random

from autograder.bank.ch12.shared import PI, Q, arms, draw_pi, nearly_one, one_is_never_drawn, rewards_for
from autograder.items import Build, Case, Group, Right, Slip


def _with_baseline(rng: Random) -> Case:
    pi = draw_pi(rng, rng.randint(3, 8))
    baseline = round(rng.choice((rng.uniform(-10, 10), rng.uniform(-100, 100))), 2)
    return Case((pi, rewards_for(rng, pi, baseline), baseline))


_SPREAD = "(probabilities[arm] * (estimates[arm][logit] - mean[logit]) ** 2 for arm in arms for logit in arms)"


EXERCISE = Build(
    "12 rl.reinforce_moments",
    section="12.13",
    bonus=True,
    topic="policy gradient",
    cases=(
        Case(((0.5, 0.5), (1, 0))),
        Case(((0.5, 0.5), (1, 0), 0.5)),
        Case(((0.5, 0.5), (1, 0), 100)),
        Case((PI, Q)),
        Case((PI, Q, 1.3)),
    ),
    groups=(
        Group(
            "no baseline",
            lambda rng: Case(arms(rng)),
            6,
            "Every arm once, weighted with its probability.",
            lambda rng: [nearly_one(rng)],
        ),
        Group("baselines", _with_baseline, 6, "A baseline changes the variance and leaves the mean."),
        Group("an arm that is never drawn", one_is_never_drawn, 3, "An arm of probability 0 counts for nothing."),
    ),
    slips=(
        Slip(
            "The probability of an arm weighs its estimate twice: it is in the estimate too.",
            edit=(
                "[(rewards[arm] - baseline) * part for",
                "[probabilities[arm] * (rewards[arm] - baseline) * part for",
            ),
        ),
        Slip(
            "That is the mean of the squares: subtract the square of the mean.",
            edit=("(estimates[arm][logit] - mean[logit]) ** 2", "estimates[arm][logit] ** 2"),
        ),
        Slip(
            "That is the gradient in the probabilities: in the logits, ln pi(a) gives onehot(a) - pi.",
            edit=(
                "(1.0 if place == arm else 0.0) - p for place, p in enumerate(probabilities)",
                "1.0 / p if p and place == arm else 0.0 for place, p in enumerate(probabilities)",
            ),
        ),
        Slip(
            "The baseline was subtracted from the mean gradient: subtract it from the reward, and the mean stays.",
            edit=("Moments(mean, math", "Moments([part - baseline for part in mean], math"),
        ),
        Slip(
            "Arms are drawn with their probabilities, not all alike.",
            edits=(
                (
                    "math.fsum(probabilities[arm] * estimates[arm][logit] for arm in arms)",
                    "math.fsum(estimates[arm][logit] / len(arms) for arm in arms)",
                ),
                ("(probabilities[arm] * (estimates", "((1 / len(arms)) * (estimates"),
            ),
        ),
        Slip("The baseline is missing.", edit=("(rewards[arm] - baseline) * part", "rewards[arm] * part")),
    ),
    rights=(
        Right(
            "the mean square minus the squared mean",
            edits=(
                (_SPREAD, "[probabilities[arm] * sum(x * x for x in estimates[arm]) for arm in arms]"),
                ("math.fsum(spread)", "sum(spread) - sum(part * part for part in mean)"),
            ),
        ),
        Right(
            "the mean in closed form",
            edit=(
                "[math.fsum(probabilities[arm] * estimates[arm][logit] for arm in arms) for logit in arms]",
                "[probabilities[i] * (rewards[i] - baseline) - probabilities[i] * sum(\n"
                "        p * (r - baseline) for p, r in zip(probabilities, rewards, strict=True)) for i in arms]",
            ),
        ),
    ),
)

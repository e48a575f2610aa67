"""Chapter 12: ``optimal_baseline``, baselines."""

from __future__ import annotations

from random import Random

from autograder.bank.ch12.shared import PI, Q, arms, nearly_one, one_is_never_drawn
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _certain(rng: Random) -> Case:
    size = rng.randint(2, 5)
    sure = rng.randrange(size)
    rewards = [round(rng.uniform(1, 10), 2) for _ in range(size)]
    return Case((tuple(float(arm == sure) for arm in range(size)), rewards))


def optimal_baseline_by_the_parabola(probabilities, rewards):
    """The variance is a parabola in the baseline: three of its points give its lowest one."""
    from solutions.ch12 import rl

    low, middle, high = (rl.reinforce_moments(probabilities, rewards, baseline).variance for baseline in (-1, 0, 1))
    bend = high + low - 2 * middle
    if max(probabilities) == 1:
        return float(rewards[list(probabilities).index(1)])
    return (low - high) / (2 * bend)


_SQUARES = "math.fsum(part * part for part in _score(probabilities, arm)) for arm, p in enumerate(probabilities)]"


EXERCISE = Build(
    "12 rl.optimal_baseline",
    section="12.13",
    bonus=True,
    topic="baselines",
    cases=(
        Case((PI, Q)),
        Case(((0.5, 0.5), (1, 0))),
        Case(((1.0, 0.0), (3, 7))),
    ),
    groups=(
        Group(
            "arms",
            lambda rng: Case(arms(rng)),
            6,
            "An arm counts as much as it moves the logits.",
            lambda rng: [nearly_one(rng)],
        ),
        Group("an arm that is never drawn", one_is_never_drawn, 3, "An arm of probability 0 counts for nothing."),
        Group("one arm is certain", _certain, 2, "Nothing moves the logits there: then the expected reward."),
    ),
    slips=(
        Slip(
            "That is V, the expected reward: a good baseline, not the best.",
            edit=(
                "math.fsum(weighted) / math.fsum(weights)",
                "sum(p * r for p, r in zip(probabilities, rewards, strict=True))",
            ),
        ),
        Slip(
            "That is the plain mean of the rewards: arms are drawn with different probabilities.",
            edit=("math.fsum(weighted) / math.fsum(weights)", "sum(rewards) / len(rewards)"),
        ),
        Slip(
            "That is the median of the rewards.",
            edits=(
                ("    weights = [p * math", "    from statistics import median\n\n    weights = [p * math"),
                ("math.fsum(weighted) / math.fsum(weights)", "median(rewards)"),
            ),
        ),
        Slip(
            "The weight is the squared length of the gradient: variance is a mean of squares.",
            edit=(
                "p * math.fsum(part * part for part in _score(probabilities, arm))",
                "p * math.sqrt(math.fsum(part * part for part in _score(probabilities, arm)))",
            ),
        ),
        Slip(
            "The probabilities of the arms are missing from the weights.",
            edits=(
                (
                    "[p * math.fsum(part * part for part in _score(probabilities, arm)) for arm, p",
                    "[math.fsum(part * part for part in _score(probabilities, arm)) for arm, p",
                ),
                ("if math.fsum(weights) <= 0:", "if max(probabilities) == 1:"),
            ),
        ),
        Slip(
            "Where one arm is certain every weight is 0: the answer there is its reward.",
            edits=(
                ("if math.fsum(weights) <= 0:\n        weights = list(probabilities)", ""),
                (
                    "math.fsum(weighted) / math.fsum(weights)",
                    (
                        "sum(w * r for w, r in zip(weights, rewards, strict=True)) / sum(weights) if "
                        "sum(weights) else 0.0"
                    ),
                ),
            ),
        ),
    ),
    rights=(
        Right("the lowest point of the parabola", program=optimal_baseline_by_the_parabola),
        Right(
            "the squared length multiplied out",
            edit=(
                _SQUARES,
                "(1 - 2 * p + sum(q * q for q in probabilities)) for p in probabilities]",
            ),
        ),
    ),
    promises=(
        Promise(
            "it is the expected reward",
            edit=("weights = list(probabilities)", "weights = [1.0] * len(probabilities)"),
        ),
    ),
)

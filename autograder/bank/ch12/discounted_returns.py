"""Chapter 12: ``discounted_returns``, returns."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _rewards(rng: Random, low: int, high: int) -> list[float]:
    return [round(rng.uniform(-3, 3), 3) for _ in range(rng.randint(low, high))]


def _episode(rng: Random) -> Case:
    return Case((_rewards(rng, 4, 30), round(rng.uniform(0.6, 0.99), 3)))


def _cut_off(rng: Random) -> Case:
    return Case((_rewards(rng, 3, 20), round(rng.uniform(0.6, 0.99), 3), round(rng.uniform(1, 20), 2)))


def _edges(rng: Random) -> list[Case]:
    return [
        Case(([], 0.9, 3.0)),
        Case((_rewards(rng, 5, 9), 0, 4.0)),
        Case((_rewards(rng, 5, 9), 1, 4.0)),
        Case((_rewards(rng, 200, 200), 0.99)),
    ]


_HORNER = """    found, following = [], float(bootstrap)
    for reward in reversed(rewards):
        following = reward + discount * following
        found.append(following)
    return found[::-1]
"""


EXERCISE = Build(
    "12 rl.discounted_returns",
    section="12.3",
    topic="returns",
    cases=(
        Case(([0, 0, 1], 0.9)),
        Case(([1, 0, 2], 0.9)),
        Case(([1] * 5, 1)),
        Case(([1, 1, 1], 0.99, 10)),
        Case(([1] * 500, 0.99)),
    ),
    groups=(
        Group("episodes that end", _episode, 6, "A return is the reward plus the discounted return of the next step."),
        Group("episodes that are cut off", _cut_off, 5, "The bootstrap is the return after the last step."),
        listed("edges", _edges, "No step, discounts of 0 and 1, many steps."),
    ),
    slips=(
        Slip(
            "Discounting starts at the step whose return it is, not at the start of the episode.",
            edit=(
                "found[::-1]",
                (
                    "[sum([discount ** t * reward for t, reward in enumerate((*rewards, "
                    "bootstrap))][t:]) for t in range(len(rewards))]"
                ),
            ),
        ),
        Slip(
            "The bootstrap is one step after the last reward: it is discounted, too.",
            edit=("found.append(following", "found.append(reward + (discount * found[-1] if found else bootstrap)"),
        ),
        Slip(
            "That is the first step's return at every step: a step has earned only what came after it.",
            edit=("found[::-1]", "[following] * len(rewards)"),
        ),
        Slip(
            "That adds up what came before each step; a return is what comes after it.",
            edits=(("reversed(rewards)", "rewards"), ("found[::-1]", "found")),
        ),
        Slip(
            "Computed from the last step on, the returns are in reverse order: reverse the list.",
            edit=("found[::-1]", "found"),
        ),
        Slip(
            "The bootstrap is missing: it stands for the rest of an episode that was cut off.",
            edit=("float(bootstrap)", "float(0.0)"),
        ),
        Slip(
            "A step's own reward belongs to its return.",
            edits=(
                (
                    "following = reward + discount * following",
                    "found.append(following)\n        following = reward + discount * following",
                ),
                ("found.append(following)", ""),
            ),
        ),
    ),
    rights=(
        Right(
            "a sum over powers of the discount",
            edit=(
                _HORNER,
                """    later = [*rewards, bootstrap]
    return [math.fsum(discount**k * x for k, x in enumerate(later[t:])) for t in range(len(rewards))]
""",
            ),
        ),
        Right(
            "dot products with powers",
            edit=(
                _HORNER,
                """    import numpy

    count, powers = len(rewards), float(discount) ** numpy.arange(len(rewards) + 1)
    sums = [numpy.dot(powers[: count - t], numpy.array(rewards[t:], dtype=float)) for t in range(count)]
    return [float(sums[t] + powers[count - t] * bootstrap) for t in range(count)]
""",
            ),
        ),
    ),
    promises=(
        Promise(
            "may be empty",
            edit=(
                "found, following = [], float(bootstrap)",
                "found, following = ([] if rewards else [0.0]), float(bootstrap)",
            ),
        ),
    ),
)

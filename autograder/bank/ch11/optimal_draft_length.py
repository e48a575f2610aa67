"""Chapter 11: ``optimal_draft_length``, draft length."""

from __future__ import annotations

import itertools
from random import Random

from autograder.bank.ch11.shared import factored_out, share
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _worth(rng: Random) -> Case:
    """Both alpha > 0.55 and alpha well above c."""
    return Case((share(rng, 0.55, 0.93), round(rng.uniform(0.03, 0.3), 3)))


def _poor(rng: Random) -> Case:
    """Alpha below a half and above c."""
    cost = round(rng.uniform(0.02, 0.15), 3)
    return Case((round(cost + rng.uniform(0.1, 0.3), 3), cost))


def _worthless(rng: Random) -> list[Case]:
    cost = round(rng.uniform(0.4, 0.8), 3)
    return [
        Case((round(cost - rng.uniform(0.05, 0.3), 3), cost)),
        Case((0, 0.1)),
        Case((0.9, 1.5)),
        Case((0.9, 0.1, 0)),
    ]


def _draw_tied(rng: Random) -> float:
    """A share at which, drafted at the same cost, one token seems to pay by a rounding error alone."""
    while True:
        share = round(rng.uniform(0.2, 0.9), 3)
        if (1 - share**2) / (1 - share) / (1 + share) > 1:
            return share


def _ties(rng: Random) -> list[Case]:
    """Speed-ups that differ from 1 by rounding alone, and by a billionth."""
    one, other, cost = _draw_tied(rng), _draw_tied(rng), round(rng.uniform(0.2, 0.6), 3)
    return [Case((one, one)), Case((other, other)), Case((cost + 1e-9, cost)), Case((cost - 1e-9, cost))]


def _bounded(rng: Random) -> list[Case]:
    """The best length is the longest that is allowed."""
    most = rng.randint(2, 5)
    return [Case((share(rng, 0.88, 0.95), 0.02, most)), Case((1, 0.3, most + 4)), Case((1, 0.0))]


def best_by_sums(acceptance, draft_cost, max_length=64):
    sums = list(itertools.accumulate(acceptance**i for i in range(max_length + 1)))
    best = 0
    for length, tokens in enumerate(sums):
        if tokens * (best * draft_cost + 1) - sums[best] * (length * draft_cost + 1) > 1e-12 * sums[best] * (
            length * draft_cost + 1
        ):
            best = length
    return best


def best_of_a_list(acceptance, draft_cost, max_length=64):
    speeds = [factored_out(acceptance, length) / (1 + length * draft_cost) for length in range(max_length + 1)]
    return next(length for length, speed in enumerate(speeds) if speed * (1 + 2e-12) >= max(speeds))


EXERCISE = Build(
    "11 speculative.optimal_draft_length",
    section="11.14",
    topic="draft length",
    bonus=True,
    cases=(
        Case((0.7, 0.2)),
        Case((0.8, 0.05)),
        Case((0.95, 0.02)),
        Case((0.5, 0.2)),
        Case((0.3, 0.5)),
        Case((0.9, 0.05, 4)),
    ),
    groups=(
        Group("good drafts", _worth, 6, "Compare the speed-ups of all lengths, not the tokens per pass."),
        Group("poor drafts", _poor, 4, "What counts is that alpha is above c, not above a half."),
        listed("no draft pays", _worthless, "Where no length beats plain decoding the answer is 0."),
        listed(
            "ties",
            _ties,
            "What is better by less than 1e-12 of the speed-up is not better; what is better by a billionth is.",
        ),
        listed("bounded", _bounded, "max_length itself may be the answer, and nothing above it."),
    ),
    slips=(
        Slip(
            "That maximizes tokens per pass: drafts cost time.",
            edit=("return best", "return max_length if acceptance > 0 else 0"),
        ),
        Slip(
            "Not to speculate, length 0, is an answer: it has speed-up 1.",
            edit=("best, speed = 0, 1.0", "best, speed = 0, 0.0"),
        ),
        Slip("max_length itself may be the best.", edit=("max_length + 1)", "max_length)")),
        Slip("max_length bounds the search.", edit=("range(1, max_length + 1)", "range(1, 65)")),
        Slip(
            "The token that the target adds after k accepted ones is missing.",
            edit=(
                "found = speculative_speedup(acceptance, length, draft_cost)",
                "found = expected_tokens(acceptance, length - 1) / (length * draft_cost + 1)",
            ),
        ),
        Slip(
            "Acceptance need not exceed a half: it must exceed the draft's cost.",
            edit=("best, speed = 0, 1.0", "if acceptance <= 0.5:\n        return 0\n    best, speed = 0, 1.0"),
        ),
        Slip(
            "A rounding error is no gain: a longer draft must be better by more than 1e-12 of the speed-up.",
            edit=("found > speed * (1 + MARGIN)", "found > speed"),
        ),
    ),
    rights=(
        Right("sums compared crosswise", program=best_by_sums),
        Right("the first of those that share the largest", program=best_of_a_list),
    ),
    promises=(
        Promise(
            "The draft length of the largest speed-up, with a target pass that costs 1 whatever it verifies.",
            edit=(
                "speculative_speedup(acceptance, length, draft_cost)",
                "speculative_speedup(acceptance, length, draft_cost, 1 + length / 8)",
            ),
        ),
        Promise(
            "A longer draft counts as better only if it gains more than 1e-12 of the speed-up.",
            edit=("found > speed * (1 + MARGIN)", "found > speed"),
        ),
        Promise(
            "A longer draft counts as better only if it gains more than 1e-12 of the speed-up.",
            edit=("found > speed * (1 + MARGIN)", "found > speed * (1 + 1e-6)"),
        ),
        Promise("the longest draft to consider", edit=("range(1, max_length + 1)", "range(1, max_length)")),
    ),
)

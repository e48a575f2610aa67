"""Chapter 11: ``debug_accept``, one round of speculation."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch11.shared import P, Q, by_bisection, draw_round, row
from autograder.items import Case, Debug, Group, Promise, Right, Slip


def _single(rng: Random, accepted: bool) -> Case:
    tokens, draft, target, uniforms = draw_round(rng, 1, accept=int(accepted)).args
    return Case((tokens[0], draft[0], target[0], (uniforms[0], uniforms[1])))


def _lucky(rng: Random) -> Case:
    """p < q, and accepted."""
    return _single(rng, True)


def _unlucky(rng: Random) -> Case:
    """p < q, and rejected."""
    return _single(rng, False)


def _impossible(rng: Random) -> list[Case]:
    """Tokens that the target never gives, before all that it has more of; both uniforms are 0."""
    size = rng.randint(3, 7)
    return [Case((0, row(rng, size + 1), (0.0, *row(rng, size)), (0.0, 0.0)))]


def _likelier(rng: Random) -> Case:
    """p > q: always accepted."""
    size = rng.randint(3, 8)
    draft, target = row(rng, size), row(rng, size)
    token = max(range(size), key=lambda i: target[i] - draft[i])
    return Case((token, draft, target, (round(rng.uniform(0.9, 0.999), 4), round(rng.random(), 4))))


def wrong_accept(token, draft, target, uniforms):
    def draw(row, uniform):
        total = sum(row)
        for identifier in range(len(row)):
            if sum(row[: identifier + 1]) > uniform * total:
                return identifier
        return max(i for i, weight in enumerate(row) if weight)

    if target[token] >= draft[token]:
        return token
    return draw(target, uniforms[1])


def one_verdict(token, draft, target, uniforms):
    if uniforms[0] < target[token] / draft[token]:
        return token
    rest = [max(p - q, 0.0) for p, q in zip(target, draft, strict=True)]
    return by_bisection([part / math.fsum(rest) for part in rest], uniforms[1])


EXERCISE = Debug(
    "11 speculative.debug_accept",
    section="11.13",
    topic="one round of speculation",
    bonus=True,
    wrong=wrong_accept,
    cases=(
        Case((2, Q, P, (0.79, 0.5))),
        Case((2, Q, P, (0.81, 0.5))),
        Case((0, Q, P, (0.99, 0.5))),
        Case((3, Q, P, (0.1, 0.9))),
    ),
    groups=(
        Group("accepted by luck", _lucky, 4, "Where p < q the token is still accepted with probability p/q."),
        Group(
            "replaced", _unlucky, 6, "A replacement comes from what the target has more than the draft.", _impossible
        ),
        Group("likelier for the target", _likelier, 3, "Where p >= q the token stays."),
    ),
    slips=(
        Slip("That is the program that was given: its tokens are not distributed as the target says.", wrong_accept),
        Slip(
            "The ratio is upside down: u < p/q accepts.",
            edit=("uniforms[0] * draft[token] < target[token]", "uniforms[0] * target[token] < draft[token]"),
        ),
        Slip(
            "The verdict is right now; the replacement still comes from p, not from the residual.",
            edit=("[max(0.0, p - q) for p, q in zip(target, draft, strict=True)]", "target"),
        ),
        Slip(
            "The replacement is right now, the verdict not yet: u < p/q accepts.",
            edit=("uniforms[0] * draft[token] < target[token]", "target[token] >= draft[token]"),
        ),
        Slip("The residual must sum to 1 before a uniform is compared with it.", edit=("uniform * total", "uniform")),
    ),
    rights=(
        Right("the ratio decides, by bisection", program=one_verdict),
        Right(
            "a sum that is carried along",
            edit=(
                "sum(row[: identifier + 1]) > uniform * total",
                "total - sum(row[identifier + 1 :]) > uniform * total",
            ),
        ),
    ),
    promises=(
        Promise(
            "must be distributed as ``target``",
            edit=("uniforms[0] * draft[token] < target[token]", "draft[token] <= target[token]"),
        ),
    ),
)

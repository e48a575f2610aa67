"""Chapter 11: ``judge_draft``, one drafted token."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch11.shared import P, Q, by_bisection, draw_round, row
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _single(rng: Random, accepted: bool, zeros: float = 0.0) -> Case:
    tokens, draft, target, uniforms = draw_round(rng, 1, zeros, accept=int(accepted)).args
    return Case((tokens[0], draft[0], target[0], (uniforms[0], uniforms[1])))


def _lucky(rng: Random) -> Case:
    """p < q, and accepted."""
    return _single(rng, True)


def _unlucky(rng: Random) -> Case:
    """p < q, and rejected."""
    return _single(rng, False)


def _certain(rng: Random) -> Case:
    """A draft that is certain: q is 1 at its token."""
    size = rng.randint(3, 7)
    target, token = row(rng, size), rng.randrange(size)
    draft = tuple(float(other == token) for other in range(size))
    return Case((token, draft, target, (round(rng.random(), 6), round(rng.random(), 6))))


def _certain_ends(rng: Random) -> list[Case]:
    """The same, rejected and accepted."""
    case = _certain(rng)
    token, draft, target, _ = case.args
    low, high = target[token] * rng.uniform(0.3, 0.9), target[token] + (1 - target[token]) * rng.uniform(0.1, 0.6)
    return [Case((token, draft, target, (uniform, rng.uniform(0.55, 0.99)))) for uniform in (low, high)]


def _edges(rng: Random) -> list[Case]:
    """A verdict on the border, a token that the target never writes, and one that is certain on both sides."""
    size = rng.randint(3, 6)
    sure = tuple(float(token == 1) for token in range(size))
    return [
        Case((0, (0.5, 0.25, 0.25), (0.25, 0.5, 0.25), (0.5, round(rng.random(), 6)))),
        Case((0, row(rng, size + 1), (0.0, *row(rng, size)), (0.0, 0.0))),
        Case((1, sure, sure, (0.999, round(rng.random(), 6)))),
    ]


def by_the_ratio(token, draft, target, uniforms):
    if uniforms[0] < target[token] / draft[token]:
        return token, True
    rest = [max(p - q, 0.0) for p, q in zip(target, draft, strict=True)]
    return by_bisection([part / math.fsum(rest) for part in rest], uniforms[1]), False


EXERCISE = Build(
    "11 speculative.judge_draft",
    section="11.3",
    topic="one drafted token",
    cases=(
        Case((1, (0.0, 1.0, 0.0), (0.5, 0.3, 0.2), (0.29, 0.5))),
        Case((1, (0.0, 1.0, 0.0), (0.5, 0.3, 0.2), (0.31, 0.5))),
        Case((1, (0.0, 1.0, 0.0), (0.5, 0.3, 0.2), (0.31, 0.9))),
        Case((2, Q, P, (0.79, 0.5))),
        Case((2, Q, P, (0.81, 0.5))),
        Case((3, Q, P, (0.0, 0.9))),
        Case((0, Q, P, (0.99, 0.5))),
    ),
    groups=(
        Group("replaced", _unlucky, 6, "A replacement comes from what the target has more than the draft."),
        Group("accepted by luck", _lucky, 4, "Where p < q the token is still accepted with probability p/q."),
        Group("certain drafts", _certain, 4, "With q = 1 the token is accepted with probability p.", _certain_ends),
        listed("edges", _edges, "u q < p accepts, u q = p does not."),
    ),
    slips=(
        Slip(
            "The ratio decides with luck: a token with p < q is accepted with probability p/q, not never.",
            edit=("if uniforms[0] * draft[token] < target[token]", "if target[token] >= draft[token]"),
        ),
        Slip(
            "The replacement comes from the residual, not from p: drafts have already given part of p.",
            edit=("_draw(_residual(target, draft), uniforms[1])", "_draw(target, uniforms[1])"),
        ),
        Slip(
            "The ratio is upside down: u < p/q accepts.",
            edit=("if uniforms[0] * draft[token] < target[token]", "if uniforms[0] * target[token] < draft[token]"),
        ),
        Slip(
            "The residual must sum to 1 before a uniform is compared with its cumulative sums.",
            edit=("[part / mass for part in missing] if mass > 0 else list(target)", "missing"),
        ),
        Slip(
            "The draw takes the second uniform: the first is used up by the verdict, and known to be large.",
            edit=("_draw(_residual(target, draft), uniforms[1])", "_draw(_residual(target, draft), uniforms[0])"),
        ),
    ),
    rights=(
        Right("the ratio decides, by bisection", program=by_the_ratio),
        Right("plain sums", edit=("mass = math.fsum(missing)", "mass = sum(missing)")),
    ),
    promises=(
        Promise(
            "The draft is accepted if",
            edit=("if uniforms[0] * draft[token] < target[token]:", "if uniforms[0] * draft[token] <= target[token]:"),
        ),
        Promise(
            "Otherwise a token is drawn from the",
            edit=("_draw(_residual(target, draft), uniforms[1])", "_draw(target, uniforms[1])"),
        ),
        Promise(
            "the first id whose cumulative probability, in the order of",
            edit=("if reached > uniform:", "if reached >= uniform and token:"),
        ),
    ),
)

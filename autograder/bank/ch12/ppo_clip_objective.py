"""Chapter 12: ``ppo_clip_objective``, clipping."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _ratio(rng: Random, clip: float, beyond: int = 0) -> float:
    """A ratio in [0.2, 5], away from 1 and from both edges; ``beyond`` 1 is above the range, -1 below it."""
    while True:
        ratio = round(math.exp(rng.uniform(math.log(0.2), math.log(5))), 4)
        side = 1 if ratio > 1 + clip else -1 if ratio < 1 - clip else 0
        if min(abs(ratio - edge) for edge in (1 - clip, 1, 1 + clip)) > 1e-3 and beyond in (0, side):
            return ratio


def _told(rng: Random, ratios: list[float], advantages: list[float], clip: float) -> Case:
    """Old log-probabilities are drawn; the new ones give these ratios."""
    old = [round(math.log(rng.uniform(0.05, 0.95)), 6) for _ in ratios]
    new = [before + math.log(ratio) for before, ratio in zip(old, ratios, strict=True)]
    return Case((new, old, advantages, clip))


def _samples(rng: Random) -> Case:
    """Some samples of each of the four kinds, and others."""
    count, clip = rng.randint(8, 64), rng.choice((0.1, 0.15, 0.3))
    ratios = [_ratio(rng, clip, (1, 1, -1, -1)[index] if index < 4 else 0) for index in range(count)]
    advantages = [round(rng.uniform(0.2, 3), 3) * rng.choice((-1, 1)) for _ in range(count)]
    advantages[:4] = [abs(a) * sign for a, sign in zip(advantages, (1, -1, 1, -1), strict=False)]
    return _told(rng, ratios, advantages, clip)


def _one(rng: Random, sign: int, beyond: int) -> Case:
    clip = rng.choice((0.1, 0.3))
    return _told(rng, [_ratio(rng, clip, beyond)], [sign * round(rng.uniform(0.5, 3), 3)], clip)


def _single(rng: Random) -> list[Case]:
    return [_one(rng, sign, beyond) for sign in (1, -1) for beyond in (1, -1)]


def _nothing_to_gain(rng: Random) -> Case:
    clip = 0.2
    ratios = [_ratio(rng, clip) for _ in range(rng.randint(4, 9))]
    advantages = [0.0 if index % 2 else round(rng.uniform(-2, 2), 3) for index in range(len(ratios))]
    return _told(rng, ratios, advantages, clip)


def _at(ratios: tuple[float, ...], advantages: tuple[float, ...], *clip: float) -> Case:
    """Actions that the old policy took with probability 0.1."""
    old = math.log(0.1)
    return Case((tuple(math.log(0.1 * ratio) for ratio in ratios), (old,) * len(ratios), advantages, *clip))


_CLIPPED = """        plain, limited = ratio * advantage, min(max(ratio, 1 - clip), 1 + clip) * advantage
        terms.append(min(plain, limited))
        outside += abs(ratio - 1) > clip
        clipped += limited < plain
"""


EXERCISE = Build(
    "12 rl.ppo_clip_objective",
    section="12.7",
    topic="clipping",
    cases=(
        _at((1.5,), (1.0,)),
        _at((0.5,), (1.0,)),
        _at((5.0,), (-1.0,)),
        _at((0.5,), (-1.0,)),
        _at((1.5, 0.5, 1.5, 0.5), (1.0, 1.0, -1.0, -1.0)),
        _at((1.15, 1.15), (1.0, -1.0), 0.1),
    ),
    groups=(
        Group("many samples", _samples, 6, "The smaller of two terms for each sample; then means."),
        listed("one sample", _single, "Where the ratio moved against the advantage nothing is clipped."),
        Group("nothing to gain", _nothing_to_gain, 3, "With an advantage of 0 both terms are equal: not clipped."),
    ),
    slips=(
        Slip(
            "The clipped term was always taken: it is the smaller of the clipped and the unclipped term that counts.",
            edit=("terms.append(min(plain, limited))", "terms.append(limited)"),
        ),
        Slip(
            "The larger term is taken: the objective has to be the pessimistic one.",
            edit=("terms.append(min(plain, limited))", "terms.append(max(plain, limited))"),
        ),
        Slip(
            "A ratio of probabilities is exp of the difference of their logarithms.",
            edit=("ratio = math.exp(new - old)", "ratio = 1 + new - old"),
        ),
        Slip(
            "The sign is wrong: this is the objective, to be maximized.",
            edit=("math.fsum(terms) / count", "-math.fsum(terms) / count"),
        ),
        Slip(
            "`clipped_fraction` counts samples whose clipped term is the smaller one, not every ratio outside it.",
            edit=("clipped += limited < plain", "clipped += abs(ratio - 1) > clip"),
        ),
        Slip(
            "`clip` is an argument: it need not be 0.2.",
            edits=(
                ("min(max(ratio, 1 - clip), 1 + clip)", "min(max(ratio, 0.8), 1.2)"),
                ("abs(ratio - 1) > clip", "abs(ratio - 1) > 0.2"),
            ),
        ),
    ),
    rights=(
        Right(
            "a quotient of probabilities",
            edit=("ratio = math.exp(new - old)", "ratio = math.exp(new) / math.exp(old)"),
        ),
        Right(
            "case by case; a plain sum",
            edits=(
                (
                    _CLIPPED,
                    """        over, under = ratio > 1 + clip, ratio < 1 - clip
        stops = (over and advantage > 0) or (under and advantage < 0)
        terms.append((1 + clip if over else 1 - clip) * advantage if stops else ratio * advantage)
        outside += over or under
        clipped += stops
""",
                ),
                ("ClipStats(math.fsum(terms) / count,", "ClipStats(sum(terms) / count,"),
            ),
        ),
    ),
    promises=(Promise("None is more than 709 above its old one", why="what it is called with"),),
)

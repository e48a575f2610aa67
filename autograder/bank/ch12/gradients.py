"""Chapter 12: the policy gradient's mean, its variance, the best baseline, and the clipped objective."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Build, Case, Group, Slip


def _pi(rng: Random, size: int, zero: bool = False) -> tuple[float, ...]:
    """Probabilities that differ; with ``zero`` one arm is never drawn."""
    weights = rng.sample(range(1, 30), size)
    if zero:
        weights[rng.randrange(size)] = 0
    return tuple(weight / sum(weights) for weight in weights)


def _rewards(rng: Random, size: int) -> tuple[float, ...]:
    return tuple(round(rng.uniform(-10, 10), 2) for _ in range(size))


def _rewards_for(rng: Random, pi: tuple[float, ...], baseline: float = 0.0) -> tuple[float, ...]:
    """Drawn again where the arms' estimates are so alike that their variance is lost in rounding, or in a sum off 1."""
    while True:
        rewards = _rewards(rng, len(pi))
        rows = [[(r - baseline) * ((i == a) - p) for i, p in enumerate(pi)] for a, r in enumerate(rewards)]
        square = sum(p * part**2 for p, row in zip(pi, rows, strict=True) for part in row)
        mean = [sum(p * row[i] for p, row in zip(pi, rows, strict=True)) for i in range(len(pi))]
        if square - sum(part**2 for part in mean) > 0.05 * square:
            return rewards


def _arms(rng: Random) -> tuple[tuple[float, ...], tuple[float, ...]]:
    pi = _pi(rng, rng.randint(3, 8))
    return pi, _rewards_for(rng, pi)


def _with_baseline(rng: Random) -> Case:
    pi = _pi(rng, rng.randint(3, 8))
    baseline = round(rng.choice((rng.uniform(-10, 10), rng.uniform(-100, 100))), 2)
    return Case((pi, _rewards_for(rng, pi, baseline), baseline))


def _one_is_never_drawn(rng: Random) -> Case:
    pi = _pi(rng, rng.randint(3, 6), zero=True)
    return Case((pi, _rewards_for(rng, pi)))


def _nearly_one(rng: Random) -> Case:
    """A sum that is off 1, by less than the docstring allows and too little to matter in any formula."""
    return Case(((0.25, 0.75 - 4e-12), _rewards_for(rng, (0.25, 0.75))))


PI, Q = (0.5, 0.3, 0.2), (0, 1, 5)

MOMENTS = Build(
    id="12-reinforce-moments",
    module="rl",
    function="reinforce_moments",
    grade="call",
    section="12.5",
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
            lambda rng: Case(_arms(rng)),
            6,
            "Every arm once, weighted with its probability.",
            lambda rng: [_nearly_one(rng)],
        ),
        Group("baselines", _with_baseline, 6, "A baseline changes the variance and leaves the mean."),
        Group("an arm that is never drawn", _one_is_never_drawn, 3, "An arm of probability 0 counts for nothing."),
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
)


def _certain(rng: Random) -> Case:
    size = rng.randint(2, 5)
    sure = rng.randrange(size)
    rewards = [round(rng.uniform(1, 10), 2) for _ in range(size)]
    return Case((tuple(float(arm == sure) for arm in range(size)), rewards))


BASELINE = Build(
    id="12-optimal-baseline",
    module="rl",
    function="optimal_baseline",
    grade="call",
    section="12.5",
    topic="baselines",
    cases=(
        Case((PI, Q)),
        Case(((0.5, 0.5), (1, 0))),
        Case(((1.0, 0.0), (3, 7))),
    ),
    groups=(
        Group(
            "arms",
            lambda rng: Case(_arms(rng)),
            6,
            "An arm counts as much as it moves the logits.",
            lambda rng: [_nearly_one(rng)],
        ),
        Group("an arm that is never drawn", _one_is_never_drawn, 3, "An arm of probability 0 counts for nothing."),
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
)


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
    ratios = [_ratio(rng, clip, (1, 1, -1, -1)[place] if place < 4 else 0) for place in range(count)]
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
    advantages = [0.0 if place % 2 else round(rng.uniform(-2, 2), 3) for place in range(len(ratios))]
    return _told(rng, ratios, advantages, clip)


def _at(ratios: tuple[float, ...], advantages: tuple[float, ...], *clip: float) -> Case:
    """Actions that the old policy took with probability 0.1."""
    old = math.log(0.1)
    return Case((tuple(math.log(0.1 * ratio) for ratio in ratios), (old,) * len(ratios), advantages, *clip))


CLIP = Build(
    id="12-ppo-clip-objective",
    module="rl",
    function="ppo_clip_objective",
    grade="call",
    section="12.9",
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
        Group(
            "one sample",
            lambda rng: rng.choice(_single(rng)),
            4,
            "Where the ratio moved against the advantage nothing is clipped.",
            _single,
        ),
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
            edits=(("ratio = math.exp(new - old)", "ratio = 1 + new - old"), ("math.expm1(new - old)", "(ratio - 1)")),
        ),
        Slip(
            "The sign is wrong: this is the objective, to be maximised.",
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
        Slip(
            "That is the plain mean of minus the log-ratios: the estimate wanted is ratio - 1 - ln(ratio).",
            edit=("divergence.append(math.expm1(new - old) - (new - old))", "divergence.append(old - new)"),
        ),
    ),
)

ITEMS: tuple[Build, ...] = (MOMENTS, BASELINE, CLIP)

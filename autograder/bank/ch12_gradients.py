"""Chapter 12: the policy gradient's mean, its variance, the best baseline, and the clipped objective."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch12_returns import UNCHECKED
from autograder.items import Build, Case, Group, Slip, invalid

# --- reinforce_moments


def slip_twice_weighted(probabilities, rewards, baseline=0.0):
    from dataclasses import make_dataclass

    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or any(p < 0 for p in pi) or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    rows = [
        [p * (r - baseline) * ((i == a) - pi[i]) for i in range(n)]
        for a, (p, r) in enumerate(zip(pi, rewards, strict=True))
    ]
    mean = [sum(pi[a] * rows[a][i] for a in range(n)) for i in range(n)]
    spread = sum(pi[a] * (rows[a][i] - mean[i]) ** 2 for a in range(n) for i in range(n))
    return make_dataclass("Moments", ["gradient", "variance"])(mean, spread)


def slip_mean_square(probabilities, rewards, baseline=0.0):
    from dataclasses import make_dataclass

    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or any(p < 0 for p in pi) or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    rows = [[(r - baseline) * ((i == a) - pi[i]) for i in range(n)] for a, r in enumerate(rewards)]
    mean = [sum(pi[a] * rows[a][i] for a in range(n)) for i in range(n)]
    spread = sum(pi[a] * rows[a][i] ** 2 for a in range(n) for i in range(n))
    return make_dataclass("Moments", ["gradient", "variance"])(mean, spread)


def slip_of_probabilities(probabilities, rewards, baseline=0.0):
    from dataclasses import make_dataclass

    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or any(p < 0 for p in pi) or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    rows = [[(r - baseline) * (i == a) / pi[a] if pi[a] else 0.0 for i in range(n)] for a, r in enumerate(rewards)]
    mean = [sum(pi[a] * rows[a][i] for a in range(n)) for i in range(n)]
    spread = sum(pi[a] * (rows[a][i] - mean[i]) ** 2 for a in range(n) for i in range(n))
    return make_dataclass("Moments", ["gradient", "variance"])(mean, spread)


def slip_baseline_off_the_mean(probabilities, rewards, baseline=0.0):
    from dataclasses import make_dataclass

    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or any(p < 0 for p in pi) or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    rows = [[(r - baseline) * ((i == a) - pi[i]) for i in range(n)] for a, r in enumerate(rewards)]
    mean = [sum(pi[a] * rows[a][i] for a in range(n)) for i in range(n)]
    spread = sum(pi[a] * (rows[a][i] - mean[i]) ** 2 for a in range(n) for i in range(n))
    return make_dataclass("Moments", ["gradient", "variance"])([m - baseline for m in mean], spread)


def slip_equal_arms(probabilities, rewards, baseline=0.0):
    from dataclasses import make_dataclass

    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or any(p < 0 for p in pi) or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    rows = [[(r - baseline) * ((i == a) - pi[i]) for i in range(n)] for a, r in enumerate(rewards)]
    mean = [sum(rows[a][i] for a in range(n)) / n for i in range(n)]
    spread = sum((rows[a][i] - mean[i]) ** 2 for a in range(n) for i in range(n)) / n
    return make_dataclass("Moments", ["gradient", "variance"])(mean, spread)


def slip_without_baseline(probabilities, rewards, baseline=0.0):
    from dataclasses import make_dataclass

    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or any(p < 0 for p in pi) or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    rows = [[r * ((i == a) - pi[i]) for i in range(n)] for a, r in enumerate(rewards)]
    mean = [sum(pi[a] * rows[a][i] for a in range(n)) for i in range(n)]
    spread = sum(pi[a] * (rows[a][i] - mean[i]) ** 2 for a in range(n) for i in range(n))
    return make_dataclass("Moments", ["gradient", "variance"])(mean, spread)


def slip_any_arms(probabilities, rewards, baseline=0.0):
    from dataclasses import make_dataclass

    pi, n = probabilities, min(len(probabilities), len(rewards))
    rows = [[(rewards[a] - baseline) * ((i == a) - pi[i]) for i in range(n)] for a in range(n)]
    mean = [sum(pi[a] * rows[a][i] for a in range(n)) for i in range(n)]
    spread = sum(pi[a] * (rows[a][i] - mean[i]) ** 2 for a in range(n) for i in range(n))
    return make_dataclass("Moments", ["gradient", "variance"])(mean, spread)


def _pi(rng: Random, size: int, zero: bool = False) -> tuple[float, ...]:
    """Probabilities that differ; with ``zero`` one arm is never drawn."""
    weights = rng.sample(range(1, 30), size)
    if zero:
        weights[rng.randrange(size)] = 0
    return tuple(weight / sum(weights) for weight in weights)


def _rewards(rng: Random, size: int) -> tuple[float, ...]:
    return tuple(round(rng.uniform(-10, 10), 2) for _ in range(size))


def _arms(rng: Random) -> tuple[tuple[float, ...], tuple[float, ...]]:
    size = rng.randint(3, 8)
    return _pi(rng, size), _rewards(rng, size)


def _with_baseline(rng: Random) -> Case:
    return Case((*_arms(rng), round(rng.choice((rng.uniform(-10, 10), rng.uniform(-100, 100))), 2)))


def _one_is_never_drawn(rng: Random) -> Case:
    size = rng.randint(3, 6)
    return Case((_pi(rng, size, zero=True), _rewards(rng, size)))


def _bad_arms(rng: Random) -> list[Case]:
    pi, rewards = _arms(rng)
    return [
        invalid(pi, rewards[:-1]),
        invalid((pi[0] + 1e-3, *pi[1:]), rewards),
        invalid((-pi[0], pi[1] + 2 * pi[0], *pi[2:]), rewards),
    ]


BAD_ARMS = Group(
    "bad input",
    lambda rng: rng.choice(_bad_arms(rng)),
    3,
    "Chances of sum 1, a reward for each: ValueError.",
    _bad_arms,
)
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
        invalid((0.5, 0.6), (1, 0)),
    ),
    groups=(
        Group("no baseline", lambda rng: Case(_arms(rng)), 5, "Every arm once, weighted with its chance."),
        Group("baselines", _with_baseline, 6, "A baseline changes the variance and leaves the mean."),
        Group("an arm that is never drawn", _one_is_never_drawn, 3, "An arm of chance 0 counts nothing."),
        BAD_ARMS,
    ),
    slips=(
        Slip("The chance of an arm weighs its estimate once: here it is in the estimate, too.", slip_twice_weighted),
        Slip("That is the mean of the squares: the squared mean has to go.", slip_mean_square),
        Slip(
            "That is the gradient in the probabilities: in the logits, ln pi(a) gives onehot(a) - pi.",
            slip_of_probabilities,
        ),
        Slip(
            "A baseline is subtracted from the reward and not from the gradient: its mean stays.",
            slip_baseline_off_the_mean,
        ),
        Slip("Arms are drawn with their probabilities, not all alike.", slip_equal_arms),
        Slip("The baseline is missing.", slip_without_baseline),
        Slip(UNCHECKED.format("chances that do not sum to 1, or are negative; too few rewards"), slip_any_arms),
    ),
)

# --- optimal_baseline


def slip_expected_reward(probabilities, rewards):
    if len(rewards) != len(probabilities) or min(probabilities) < 0 or abs(sum(probabilities) - 1) > 1e-9:
        raise ValueError("arms")
    return sum(p * r for p, r in zip(probabilities, rewards, strict=True))


def slip_plain_mean(probabilities, rewards):
    if len(rewards) != len(probabilities) or min(probabilities) < 0 or abs(sum(probabilities) - 1) > 1e-9:
        raise ValueError("arms")
    return sum(rewards) / len(rewards)


def slip_median(probabilities, rewards):
    from statistics import median

    if len(rewards) != len(probabilities) or min(probabilities) < 0 or abs(sum(probabilities) - 1) > 1e-9:
        raise ValueError("arms")
    return median(rewards)


def slip_not_squared(probabilities, rewards):
    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or min(pi) < 0 or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    weights = [pi[a] * sum(((i == a) - pi[i]) ** 2 for i in range(n)) ** 0.5 for a in range(n)]
    if not sum(weights):
        weights = list(pi)
    return sum(w * r for w, r in zip(weights, rewards, strict=True)) / sum(weights)


def slip_chance_forgotten(probabilities, rewards):
    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or min(pi) < 0 or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    weights = [sum(((i == a) - pi[i]) ** 2 for i in range(n)) for a in range(n)]
    if max(pi) == 1:
        weights = list(pi)
    return sum(w * r for w, r in zip(weights, rewards, strict=True)) / sum(weights)


def slip_certain_is_zero(probabilities, rewards):
    pi, n = probabilities, len(probabilities)
    if len(rewards) != n or min(pi) < 0 or abs(sum(pi) - 1) > 1e-9:
        raise ValueError("arms")
    weights = [pi[a] * sum(((i == a) - pi[i]) ** 2 for i in range(n)) for a in range(n)]
    return sum(w * r for w, r in zip(weights, rewards, strict=True)) / sum(weights) if sum(weights) else 0.0


def slip_any_bandit(probabilities, rewards):
    pi, n = probabilities, min(len(probabilities), len(rewards))
    weights = [pi[a] * sum(((i == a) - pi[i]) ** 2 for i in range(n)) for a in range(n)]
    if not sum(weights):
        weights = list(pi)
    return sum(w * r for w, r in zip(weights, rewards, strict=False)) / sum(weights)


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
        invalid((0.5, 0.6), (1, 0)),
    ),
    groups=(
        Group("arms", lambda rng: Case(_arms(rng)), 6, "An arm counts as much as it moves the logits."),
        Group("an arm that is never drawn", _one_is_never_drawn, 3, "An arm of chance 0 counts nothing."),
        Group("one arm is certain", _certain, 2, "Nothing moves the logits there: then the expected reward."),
        BAD_ARMS,
    ),
    slips=(
        Slip("That is V, the expected reward: a good baseline, not the best.", slip_expected_reward),
        Slip("That is the plain mean of the rewards: nobody draws the arms alike.", slip_plain_mean),
        Slip("That is the median of the rewards.", slip_median),
        Slip("The weight is the squared length of the gradient: variance is a mean of squares.", slip_not_squared),
        Slip("Each arm is drawn with its chance: weigh with that, too.", slip_chance_forgotten),
        Slip("Where one arm is certain every weight is 0: the answer there is its reward.", slip_certain_is_zero),
        Slip(UNCHECKED.format("chances that do not sum to 1, or are negative; too few rewards"), slip_any_bandit),
    ),
)

# --- ppo_clip_objective


def slip_without_min(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass
    from math import exp

    if not log_probs or len({len(log_probs), len(old_log_probs), len(advantages)}) > 1 or clip <= 0:
        raise ValueError("arguments")
    rows = [(exp(a - b), w) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=True)]
    objective = sum(min(max(r, 1 - clip), 1 + clip) * w for r, w in rows) / len(rows)
    outside = sum(abs(r - 1) > clip for r, _ in rows) / len(rows)
    clipped = sum(min(max(r, 1 - clip), 1 + clip) * w < r * w for r, w in rows) / len(rows)
    kl = sum(r - 1 - (a - b) for (r, _), a, b in zip(rows, log_probs, old_log_probs, strict=True)) / len(rows)
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(objective, outside, clipped, kl)


def slip_maximum(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass
    from math import exp

    if not log_probs or len({len(log_probs), len(old_log_probs), len(advantages)}) > 1 or clip <= 0:
        raise ValueError("arguments")
    rows = [(exp(a - b), w) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=True)]
    objective = sum(max(r * w, min(max(r, 1 - clip), 1 + clip) * w) for r, w in rows) / len(rows)
    outside = sum(abs(r - 1) > clip for r, _ in rows) / len(rows)
    clipped = sum(min(max(r, 1 - clip), 1 + clip) * w < r * w for r, w in rows) / len(rows)
    kl = sum(r - 1 - (a - b) for (r, _), a, b in zip(rows, log_probs, old_log_probs, strict=True)) / len(rows)
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(objective, outside, clipped, kl)


def slip_difference_of_logs(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass

    if not log_probs or len({len(log_probs), len(old_log_probs), len(advantages)}) > 1 or clip <= 0:
        raise ValueError("arguments")
    rows = [(1 + a - b, w) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=True)]
    objective = sum(min(r * w, min(max(r, 1 - clip), 1 + clip) * w) for r, w in rows) / len(rows)
    outside = sum(abs(r - 1) > clip for r, _ in rows) / len(rows)
    clipped = sum(min(max(r, 1 - clip), 1 + clip) * w < r * w for r, w in rows) / len(rows)
    kl = sum(r - 1 - (a - b) for (r, _), a, b in zip(rows, log_probs, old_log_probs, strict=True)) / len(rows)
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(objective, outside, clipped, kl)


def slip_loss(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass
    from math import exp

    if not log_probs or len({len(log_probs), len(old_log_probs), len(advantages)}) > 1 or clip <= 0:
        raise ValueError("arguments")
    rows = [(exp(a - b), w) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=True)]
    objective = sum(min(r * w, min(max(r, 1 - clip), 1 + clip) * w) for r, w in rows) / len(rows)
    outside = sum(abs(r - 1) > clip for r, _ in rows) / len(rows)
    clipped = sum(min(max(r, 1 - clip), 1 + clip) * w < r * w for r, w in rows) / len(rows)
    kl = sum(r - 1 - (a - b) for (r, _), a, b in zip(rows, log_probs, old_log_probs, strict=True)) / len(rows)
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(-objective, outside, clipped, kl)


def slip_outside_is_clipped(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass
    from math import exp

    if not log_probs or len({len(log_probs), len(old_log_probs), len(advantages)}) > 1 or clip <= 0:
        raise ValueError("arguments")
    rows = [(exp(a - b), w) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=True)]
    objective = sum(min(r * w, min(max(r, 1 - clip), 1 + clip) * w) for r, w in rows) / len(rows)
    outside = sum(abs(r - 1) > clip for r, _ in rows) / len(rows)
    kl = sum(r - 1 - (a - b) for (r, _), a, b in zip(rows, log_probs, old_log_probs, strict=True)) / len(rows)
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(objective, outside, outside, kl)


def slip_always_a_fifth(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass
    from math import exp

    if not log_probs or len({len(log_probs), len(old_log_probs), len(advantages)}) > 1 or clip <= 0:
        raise ValueError("arguments")
    rows = [(exp(a - b), w) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=True)]
    objective = sum(min(r * w, min(max(r, 0.8), 1.2) * w) for r, w in rows) / len(rows)
    outside = sum(abs(r - 1) > 0.2 for r, _ in rows) / len(rows)
    clipped = sum(min(max(r, 0.8), 1.2) * w < r * w for r, w in rows) / len(rows)
    kl = sum(r - 1 - (a - b) for (r, _), a, b in zip(rows, log_probs, old_log_probs, strict=True)) / len(rows)
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(objective, outside, clipped, kl)


def slip_mean_log_ratio(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass
    from math import exp

    if not log_probs or len({len(log_probs), len(old_log_probs), len(advantages)}) > 1 or clip <= 0:
        raise ValueError("arguments")
    rows = [(exp(a - b), w) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=True)]
    objective = sum(min(r * w, min(max(r, 1 - clip), 1 + clip) * w) for r, w in rows) / len(rows)
    outside = sum(abs(r - 1) > clip for r, _ in rows) / len(rows)
    clipped = sum(min(max(r, 1 - clip), 1 + clip) * w < r * w for r, w in rows) / len(rows)
    kl = sum(b - a for a, b in zip(log_probs, old_log_probs, strict=True)) / len(rows)
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(objective, outside, clipped, kl)


def slip_any_samples(log_probs, old_log_probs, advantages, clip=0.2):
    from dataclasses import make_dataclass
    from math import exp

    rows = [(exp(a - b), w, a - b) for a, b, w in zip(log_probs, old_log_probs, advantages, strict=False)]
    count = len(rows) or 1
    objective = sum(min(r * w, min(max(r, 1 - clip), 1 + clip) * w) for r, w, _ in rows) / count
    outside = sum(abs(r - 1) > clip for r, _, _ in rows) / count
    clipped = sum(min(max(r, 1 - clip), 1 + clip) * w < r * w for r, w, _ in rows) / count
    kl = sum(r - 1 - d for r, _, d in rows) / count
    kind = make_dataclass("ClipStats", ["objective", "outside_fraction", "clipped_fraction", "approx_kl"])
    return kind(objective, outside, clipped, kl)


def _ratio(rng: Random, clip: float, beyond: int = 0) -> float:
    """A ratio in [0.2, 5], away from both edges; ``beyond`` 1 is above the range, -1 below it."""
    while True:
        ratio = round(math.exp(rng.uniform(math.log(0.2), math.log(5))), 4)
        side = 1 if ratio > 1 + clip else -1 if ratio < 1 - clip else 0
        if min(abs(ratio - 1 - clip), abs(ratio - 1 + clip)) > 1e-3 and beyond in (0, side):
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


def _bad_samples(rng: Random) -> list[Case]:
    new, old, advantages, clip = _samples(rng).args
    return [
        invalid([], [], []),
        invalid(new, old[:-1], advantages, clip),
        invalid(new, old, advantages[:-1], clip),
        invalid(new, old, advantages, 0),
        invalid(new, old, advantages, -clip),
    ]


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
        invalid((), (), ()),
        invalid((0.0,), (0.0,), (1.0,), 0),
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
        Group(
            "bad input", lambda rng: rng.choice(_bad_samples(rng)), 5, "Samples, and a range: ValueError.", _bad_samples
        ),
    ),
    slips=(
        Slip(
            "Only the ratio is clipped: the smaller of both terms counts, so that losses stay whole.", slip_without_min
        ),
        Slip("The larger term is taken: the objective has to be the pessimistic one.", slip_maximum),
        Slip("A ratio of probabilities is exp of the difference of their logarithms.", slip_difference_of_logs),
        Slip("The sign is turned: this is the objective, to be maximised.", slip_loss),
        Slip("Outside the range and without a gradient are two things: compare the terms.", slip_outside_is_clipped),
        Slip("The range is an argument.", slip_always_a_fifth),
        Slip(
            "That is the plain mean of minus the log-ratios: the estimate wanted is ratio - 1 - ln(ratio).",
            slip_mean_log_ratio,
        ),
        Slip(UNCHECKED.format("no samples, columns of different lengths, a range of 0"), slip_any_samples),
    ),
)

ITEMS: tuple[Build, ...] = (MOMENTS, BASELINE, CLIP)

"""Chapter 13: the KL divergence from samples, its gradients, and the policy that it leads to."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.bank.refusals import UNCHECKED, bad_input
from autograder.items import Build, Case, Group, Slip, invalid

NAN, INF = float("nan"), float("inf")


def _log(rng: Random) -> float:
    return round(rng.uniform(-12, 0), 3)


def distribution(rng: Random, size: int, zeros: int = 0) -> tuple[float, ...]:
    """A distribution; ``zeros`` of its entries are 0."""
    weights = [rng.randint(2, 40) for _ in range(size)]
    for place in rng.sample(range(size), zeros):
        weights[place] = 0
    return tuple(weight / sum(weights) for weight in weights)


# --- kl_estimates


def _sample(rng: Random) -> Case:
    return Case((_log(rng), _log(rng)))


def _tiny(rng: Random) -> Case:
    log_p = round(rng.uniform(-3, -0.5), 3)
    return Case((log_p, log_p + rng.choice((-1, 1)) * rng.uniform(2, 9) * 10 ** -rng.uniform(7, 8)))


def _no_numbers(rng: Random) -> list[Case]:
    good = _log(rng)
    return [invalid(good, -INF), invalid(NAN, good), invalid(good, INF), invalid(-INF, good)]


KL_ESTIMATES = Build(
    id="13-kl-estimates",
    module="kl",
    function="kl_estimates",
    grade="call",
    section="13.6",
    topic="KL estimators",
    tolerance=1e-6,
    cases=(
        Case((-1.2, -1.0)),
        Case((-0.8, -1.0)),
        Case((-2.0, -1.0)),
        Case((-3.0, -0.1)),
        Case((-0.7, -0.7)),
        Case((-1.0, -1.00000003)),
        invalid(-1.0, -INF),
    ),
    groups=(
        Group("samples", _sample, 8, "d is the log-probability under p minus that under q; p drew the sample."),
        Group("tiny differences", _tiny, 4, "Near d = 0 the digits of e^-d - 1 cancel: there is a function for that."),
        bad_input(_no_numbers, "A log-probability that is not finite must raise ValueError."),
    ),
    slips=(
        Slip(
            "The roles are swapped in k3: it is e^-d - 1 + d for samples of p.",
            edit=("math.expm1(-gap) + gap", "math.expm1(gap) - gap"),
        ),
        Slip(
            "Sampling already weighs by p: k1 is the plain difference.",
            edit=("KLEstimates(gap,", "KLEstimates(math.exp(log_p) * gap,"),
        ),
        Slip(
            "Where d is tiny, exp(-d) - 1 has lost its digits: use expm1.",
            edit=("math.expm1(-gap) + gap", "math.exp(-gap) - 1 + gap"),
        ),
        Slip("k2 is half of the square.", edit=("gap * gap / 2", "gap * gap")),
        Slip("d is log p - log q, not the other way round.", edit=("float(log_p - log_q)", "float(log_q - log_p)")),
        Slip(
            "One sample's k1 may be negative: without its sign it is biased.",
            edit=("return KLEstimates(gap", "return KLEstimates(abs(gap)"),
        ),
        Slip(
            UNCHECKED,
            edit=(
                '    for name, value in (("log_p", log_p), ("log_q", log_q)):\n'
                "        if not math.isfinite(value):\n"
                '            raise ValueError(f"{name} must be a finite number, got {value!r}")\n',
                "",
            ),
        ),
    ),
)

# --- estimator_moments


def any_laws(p, q, estimator):
    from math import expm1, log

    k = {"k1": lambda d: d, "k2": lambda d: d * d / 2}.get(estimator, lambda d: expm1(-d) + d)
    found = [(a, k(log(a) - log(max(b, 1e-12)))) for a, b in zip(p, q, strict=False) if a > 0]
    mean = sum(weight * value for weight, value in found)
    return mean, sum(weight * (value - mean) ** 2 for weight, value in found)


def _two_distributions(rng: Random, size: int, zeros: int = 0) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Drawn again where all estimates are alike: their variance would be 0 but for rounding."""
    while True:
        p, q = distribution(rng, size, zeros), distribution(rng, size)
        lengths = [abs(math.log(a / b)) for a, b in zip(p, q, strict=True) if a]
        if max(lengths) > 1.01 * min(lengths):
            return p, q


def _pair(rng: Random) -> Case:
    return Case((*_two_distributions(rng, rng.randint(2, 20)), rng.choice(("k1", "k2", "k3"))))


def _each(rng: Random) -> list[Case]:
    p, q = _two_distributions(rng, rng.randint(2, 6))
    nearly = Case(((0.25, 0.75 - 4e-7), (0.25, 0.75 - 4e-7), "k1"))  # a sum may be off by up to 1e-6
    return [nearly, *(Case((p, q, name)) for name in ("k1", "k2", "k3"))]


def _never_drawn(rng: Random) -> Case:
    size = rng.randint(3, 8)
    return Case((*_two_distributions(rng, size, rng.randint(1, size - 2)), rng.choice(("k1", "k2", "k3"))))


def _bad_pairs(rng: Random) -> list[Case]:
    good = distribution(rng, rng.randint(3, 5))
    return [
        invalid(good, good, rng.choice(("k4", "K1", ""))),
        invalid(good, (*good[:-1], good[-1] / 2, good[-1] / 2), "k1"),
        invalid((), (), "k1"),
        invalid((0.5, 0.5), (1.0, 0.0), "k3"),
        invalid((good[0] + 0.02, *good[1:]), good, "k2"),
        invalid(good, (good[0] - 0.02, *good[1:]), "k2"),
        invalid((0.5, 0.5), (1.25, -0.25), "k2"),
        invalid((1.25, -0.25), (0.5, 0.5), "k2"),
        invalid((NAN, 0.5), (0.5, 0.5), "k1"),
        invalid((0.25, 0.75 - 3e-6), (0.25, 0.75), "k1"),
    ]


ESTIMATOR_MOMENTS = Build(
    id="13-estimator-moments",
    module="kl",
    function="estimator_moments",
    grade="call",
    section="13.6",
    topic="KL estimators",
    cases=(
        Case(((0.5, 0.3, 0.2), (0.4, 0.4, 0.2), "k1")),
        Case(((0.5, 0.3, 0.2), (0.4, 0.4, 0.2), "k2")),
        Case(((0.5, 0.3, 0.2), (0.4, 0.4, 0.2), "k3")),
        Case(((0.9, 0.05, 0.05), (1 / 3, 1 / 3, 1 / 3), "k3")),
        Case(((0.2, 0.8), (0.2, 0.8), "k1")),
        Case(((0.0, 0.5, 0.5), (0.5, 0.25, 0.25), "k1")),
        invalid((0.5, 0.5), (1.0, 0.0), "k1"),
        invalid((0.5, 0.5), (0.5, 0.5), "k4"),
    ),
    groups=(
        Group("distributions", _pair, 8, "Each outcome's estimate has the weight with which p draws it.", _each),
        Group("outcomes that are never drawn", _never_drawn, 4, "What p never draws has no part in a mean over draws."),
        bad_input(
            _bad_pairs, "Two distributions of one length, q > 0 wherever p is, and a known name; else ValueError."
        ),
    ),
    slips=(
        Slip(
            "The samples come from p: its probabilities weigh.",
            edits=(
                ("a * value for (a, _)", "b * value for (_, b)"),
                ("a * (value - mean) ** 2 for (a, _)", "b * (value - mean) ** 2 for (_, b)"),
            ),
        ),
        Slip(
            "A plain mean over the outcomes: samples come from p, so its probabilities weigh.",
            edits=(
                (
                    "math.fsum(a * value for (a, _), value in zip(drawn, values, strict=True))",
                    "math.fsum(values) / len(values)",
                ),
                (
                    "math.fsum(a * (value - mean) ** 2 for (a, _), value in zip(drawn, values, strict=True))",
                    "math.fsum((value - mean) ** 2 for value in values) / len(values)",
                ),
            ),
        ),
        Slip(
            "That is the mean of the squares: subtract the square of the mean.",
            edit=("(value - mean) ** 2", "value**2"),
        ),
        Slip(
            "That estimates KL(q||p): d is log p - log q.",
            edit=("kl_estimates(math.log(a), math.log(b))", "kl_estimates(math.log(b), math.log(a))"),
        ),
        Slip(
            "That is the standard deviation: the variance is asked for.",
            edit=(
                "return mean, math.fsum(a * (value - mean) ** 2 for (a, _), value in zip(drawn, values, strict=True))",
                "return mean, math.sqrt(math.fsum(a * (value - mean) ** 2 for (a, _), value in zip(drawn, "
                "values, strict=True)))",
            ),
        ),
        Slip(
            "Outcomes that p never draws were counted.",
            edits=(
                (
                    "[(a, b) for a, b in zip(p, q, strict=True) if a > 0]",
                    "[(a or 1e-2, b or 1e-2) for a, b in zip(p, q, strict=True)]",
                ),
                ("not all(b > 0 for _, b in drawn)", "any(b == 0 < a for a, b in zip(p, q, strict=True))"),
            ),
        ),
        Slip(UNCHECKED, any_laws),
    ),
)

# --- expected_kl_gradient


def any_logits(logits, reference_logits, estimator, placement):
    from math import exp, expm1, log

    policy, reference = (
        [exp(min(x, 99)) / sum(exp(min(y, 99)) for y in row) for x in row] for row in (logits, reference_logits)
    )
    gaps = [log(a / b) for a, b in zip(policy, reference, strict=False)]
    slopes = {"k1": [1.0] * len(gaps), "k2": gaps}.get(estimator, [-expm1(-d) for d in gaps])
    values = {"k1": gaps, "k2": [d * d / 2 for d in gaps]}.get(estimator, [expm1(-d) + d for d in gaps])
    weights = values if placement == "reward" else slopes
    mean = sum(a * w for a, w in zip(policy, weights, strict=False))
    return [a * (w - mean) for a, w in zip(policy, weights, strict=False)]


PLACES = tuple((k, place) for place in ("reward", "loss") for k in ("k1", "k2", "k3"))


def _logits(rng: Random, size: int) -> tuple[float, ...]:
    return tuple(round(rng.uniform(-2, 2), 2) for _ in range(size))


def _all_six(rng: Random) -> list[Case]:
    """Each of the six for two pairs of policies."""
    pairs = [(_logits(rng, size), _logits(rng, size)) for size in (rng.randint(3, 5), rng.randint(2, 8))]
    return [Case((*pair, *place)) for pair in pairs for place in PLACES]


def _equal(rng: Random) -> list[Case]:
    both = _logits(rng, rng.randint(2, 5))
    return [Case((both, both, *place)) for place in (("k1", "reward"), ("k3", "loss"))]


def _bad_logits(rng: Random) -> list[Case]:
    good = _logits(rng, 3)
    return [
        invalid(good, good[:2], "k1", "loss"),
        invalid((), (), "k1", "loss"),
        invalid(good, good, "kl", "loss"),
        invalid(good, good, "k1", "penalty"),
        invalid((*good[:2], INF), good, "k1", "reward"),
        invalid(good, (NAN, *good[:2]), "k2", "loss"),
    ]


_LOGITS = (0.3, -0.2, 0.5), (0.0, 0.4, -0.1)

EXPECTED_KL_GRADIENT = Build(
    id="13-expected-kl-gradient",
    module="kl",
    function="expected_kl_gradient",
    grade="call",
    section="13.7",
    topic="gradients of KL terms",
    tolerance=1e-8,
    cases=(
        *(Case((*_LOGITS, *place)) for place in PLACES),
        invalid((0.0,), (0.0, 1.0), "k1", "loss"),
        invalid((0.0, 1.0), (0.0, 1.0), "k1", "penalty"),
    ),
    groups=(
        listed(
            "placements",
            _all_six,
            "The score of outcome i for logit j is [i = j] - pi_j. Its weight: the estimate or its derivative?",
        ),
        listed("equal policies", _equal, "At the reference d is 0."),
        bad_input(_bad_logits, "As many finite logits in both, and known names; else ValueError."),
    ),
    slips=(
        Slip(
            "As a loss, k1 has the derivative 1 everywhere, and the score has the mean 0.",
            edit=('"k1": 1.0', '"k1": a - b'),
        ),
        Slip("The derivative of k3 = e^-d - 1 + d is 1 - e^-d.", edit=("-math.expm1(b - a)", "-math.expm1(a - b)")),
        Slip(
            "That is the derivative with respect to the log-probabilities: go on to the logits.",
            edit=("return [share * (weight - mean) for share", "return [a * weight for a"),
        ),
        Slip(
            "In the reward the estimate itself weighs the score; as a loss its derivative does.",
            edit=('placement == "reward"', 'placement == "loss"'),
        ),
        Slip(
            "Samples come from the policy: its probabilities weigh, not the reference's.",
            edits=(
                (
                    "mean = math.fsum(share * weight for share, weight in zip(policy, weights, strict=True)) / "
                    "math.fsum(policy)",
                    "drawn = [math.exp(b) for b in log_q]\n"
                    "    mean = math.fsum(share * weight for share, weight in zip(drawn, weights, strict=True))",
                ),
                (
                    "[share * (weight - mean) for share, weight in zip(policy, weights, strict=True)]",
                    "[b * weight - a * mean for a, b, weight in zip(policy, drawn, weights, strict=True)]",
                ),
            ),
        ),
        Slip(
            "A plain mean over the outcomes: samples come from the policy, so they weigh.",
            edits=(
                (
                    "math.fsum(share * weight for share, weight in zip(policy, weights, strict=True)) / "
                    "math.fsum(policy)",
                    "math.fsum(weights) / len(weights)",
                ),
                ("share * (weight - mean) for", "weight / len(weights) - share * mean for"),
            ),
        ),
        Slip(
            "The sign is wrong: ascending the reward -k goes down this gradient.",
            edit=("share * (weight - mean)", "share * (mean - weight)"),
        ),
        Slip(UNCHECKED, any_logits),
    ),
)

# --- tilted_policy


def any_tilt(reference, rewards, beta):
    from math import exp

    beta = beta if beta > 0 else 1.0
    best = max((r for b, r in zip(reference, rewards, strict=False) if b > 0), default=0.0)
    weights = [b and b * exp((r - best) / beta) for b, r in zip(reference, rewards, strict=False)]
    return [weight / sum(weights) for weight in weights]


def _tilt(rng: Random) -> Case:
    size = rng.randint(2, 10)
    rewards = tuple(round(rng.uniform(-3, 3), 2) for _ in range(size))
    return Case((distribution(rng, size), rewards, round(rng.uniform(0.2, 5), 3)))


def _cheap(rng: Random) -> Case:
    size = rng.randint(2, 5)
    rewards = tuple(float(rng.randint(-300, 300)) for _ in range(size))
    return Case((distribution(rng, size), rewards, 10 ** -rng.uniform(2, 4)))


def _unreachable(rng: Random) -> Case:
    """The best reward is where the reference never goes, far above all others."""
    size = rng.randint(3, 5)
    reference = distribution(rng, size, 1)
    rewards = [round(rng.uniform(-1, 1), 2) for _ in range(size)]
    rewards[reference.index(0.0)] = float(rng.randint(2000, 4000))
    return Case((reference, tuple(rewards), round(rng.uniform(0.5, 2), 2)))


def _bad_tilts(rng: Random) -> list[Case]:
    good, rewards = distribution(rng, 3), (0.5, -1.0, 2.0)
    return [
        invalid(good, rewards, 0),
        invalid(good, rewards, -0.5),
        invalid(good, rewards, NAN),
        invalid(good, rewards, INF),
        invalid(good, rewards[:2], 1.0),
        invalid((), (), 1.0),
        invalid((0.5, 0.25, 0.25 + 3e-6), rewards, 1.0),
        invalid((0.6, 0.6, -0.2), rewards, 1.0),
        invalid(good, (0.5, INF, 0.0), 1.0),
    ]


TILTED_POLICY = Build(
    id="13-tilted-policy",
    module="kl",
    function="tilted_policy",
    grade="call",
    section="13.11",
    topic="the optimum under a KL price",
    cases=(
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 0.5)),
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 1)),
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 10)),
        Case(((0.6, 0.3, 0.1), (0, 1, 2), 0.001)),
        invalid((0.5, 0.5), (0, 1), 0),
        invalid((0.5, 0.4), (0, 1), 1),
    ),
    groups=(
        Group("prices", _tilt, 7, "Each outcome weighs reference times e^(reward/beta); then divide by the sum."),
        Group("tiny prices", _cheap, 3, "Subtract the largest reward before the exponential: nothing may overflow."),
        Group("out of reach", _unreachable, 2, "An outcome of probability 0 keeps it, whatever its reward."),
        bad_input(_bad_tilts, "A distribution, as many finite rewards and a finite price > 0; else ValueError."),
    ),
    slips=(
        Slip(
            "A high price holds the policy back: divide the reward by beta.",
            edit=("(reward - best) / beta", "beta * (reward - best)"),
        ),
        Slip(
            "The reference is missing: it weighs every outcome.",
            edit=("share * math.exp((reward - best) / beta)", "math.exp((reward - best) / beta)"),
        ),
        Slip(
            "The exponential overflows where beta is small: subtract the largest reward first.",
            edit=("(reward - best) / beta", "reward / beta"),
        ),
        Slip("Divide by the sum: a policy sums to 1.", edit=("weight / total", "weight")),
        Slip(
            "The largest reward has probability 0 under the reference: beside it all others vanish.",
            edit=("max(reward for share, reward in zip(reference, rewards, strict=True) if share > 0)", "max(rewards)"),
        ),
        Slip(UNCHECKED, any_tilt),
    ),
)

#: In the order of the page.
ITEMS = (KL_ESTIMATES, ESTIMATOR_MOMENTS, EXPECTED_KL_GRADIENT, TILTED_POLICY)

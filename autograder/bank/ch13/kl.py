"""Chapter 13: the KL divergence from samples, its gradients, and the policy that it leads to."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip


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
    ),
    groups=(
        Group("samples", _sample, 8, "d is the log-probability under p minus that under q; p drew the sample."),
        Group("tiny differences", _tiny, 4, "Near d = 0 the digits of e^-d - 1 cancel: there is a function for that."),
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
    ),
)

# --- estimator_moments


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
    ),
    groups=(
        Group("distributions", _pair, 8, "Each outcome's estimate has the weight with which p draws it.", _each),
        Group("outcomes that are never drawn", _never_drawn, 4, "What p never draws has no part in a mean over draws."),
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
            ),
        ),
    ),
)

# --- expected_kl_gradient


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


_LOGITS = (0.3, -0.2, 0.5), (0.0, 0.4, -0.1)

EXPECTED_KL_GRADIENT = Build(
    id="13-expected-kl-gradient",
    module="kl",
    function="expected_kl_gradient",
    grade="call",
    section="13.7",
    topic="gradients of KL terms",
    tolerance=1e-8,
    cases=(*(Case((*_LOGITS, *place)) for place in PLACES),),
    groups=(
        listed(
            "placements",
            _all_six,
            "The score of outcome i for logit j is [i = j] - pi_j. Its weight: the estimate or its derivative?",
        ),
        listed("equal policies", _equal, "At the reference d is 0."),
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
    ),
)

# --- tilted_policy


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
    ),
    groups=(
        Group("prices", _tilt, 7, "Each outcome weighs reference times e^(reward/beta); then divide by the sum."),
        Group("tiny prices", _cheap, 3, "Subtract the largest reward before the exponential: nothing may overflow."),
        Group("out of reach", _unreachable, 2, "An outcome of probability 0 keeps it, whatever its reward."),
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
    ),
)

#: In the order of the page.
ITEMS = (KL_ESTIMATES, ESTIMATOR_MOMENTS, EXPECTED_KL_GRADIENT, TILTED_POLICY)

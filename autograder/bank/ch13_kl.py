"""Chapter 13: the KL divergence from samples, its gradients, and the policy that it leads to."""

from __future__ import annotations

from random import Random

from autograder.bank import wrong_kl as wrong
from autograder.items import Build, Case, Group, Slip, invalid

UNCHECKED = "Impossible arguments were accepted: {}."
NAN, INF = float("nan"), float("inf")


def _log(rng: Random) -> float:
    return round(rng.uniform(-12, 0), 3)


def law(rng: Random, size: int, zeros: int = 0) -> tuple[float, ...]:
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
        Group(
            "bad input",
            lambda rng: rng.choice(_no_numbers(rng)),
            4,
            "A log-probability that is not finite must raise ValueError.",
            _no_numbers,
        ),
    ),
    slips=(
        Slip("The roles are swapped in k3: it is e^-d - 1 + d for samples of p.", wrong.k3_of_the_other),
        Slip("Sampling already weighs by p: k1 is the plain difference.", wrong.weighed_twice),
        Slip("Where d is tiny, exp(-d) - 1 has lost its digits: use expm1.", wrong.without_expm1),
        Slip("k2 is half of the square.", wrong.whole_square),
        Slip("d is log p - log q, not the other way round.", wrong.turned_round),
        Slip("One sample's k1 may be negative: without its sign it is biased.", wrong.without_sign),
        Slip(UNCHECKED.format("log-probabilities of minus infinity"), wrong.any_sample),
    ),
)

# --- estimator_moments


def _pair(rng: Random) -> Case:
    size = rng.randint(2, 20)
    return Case((law(rng, size), law(rng, size), rng.choice(("k1", "k2", "k3"))))


def _each(rng: Random) -> list[Case]:
    size = rng.randint(2, 6)
    p, q = law(rng, size), law(rng, size)
    return [Case((p, q, name)) for name in ("k1", "k2", "k3")]


def _never_drawn(rng: Random) -> Case:
    size = rng.randint(3, 8)
    return Case((law(rng, size, rng.randint(1, size - 2)), law(rng, size), rng.choice(("k1", "k2", "k3"))))


def _bad_pairs(rng: Random) -> list[Case]:
    good = law(rng, rng.randint(3, 5))
    return [
        invalid(good, good, rng.choice(("k4", "K1", ""))),
        invalid(good, good[:-1], "k1"),
        invalid((), (), "k1"),
        invalid((0.5, 0.5), (1.0, 0.0), "k3"),
        invalid((good[0] + 0.02, *good[1:]), good, "k2"),
        invalid(good, (good[0] - 0.02, *good[1:]), "k2"),
        invalid((0.5, 0.5), (1.25, -0.25), "k2"),
        invalid((1.25, -0.25), (0.5, 0.5), "k2"),
        invalid((NAN, 0.5), (0.5, 0.5), "k1"),
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
        Group("laws", _pair, 8, "Each outcome's estimate weighs as much as p draws it.", _each),
        Group("outcomes that never come", _never_drawn, 4, "What p never draws has no part in a mean over draws."),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_pairs(rng)),
            9,
            "Two laws of one length, q > 0 wherever p is, and a known name; else ValueError.",
            _bad_pairs,
        ),
    ),
    slips=(
        Slip("The samples come from p: its probabilities weigh.", wrong.weighed_by_q),
        Slip("A plain mean over the outcomes: samples come from p, so its probabilities weigh.", wrong.not_weighed),
        Slip("That is the mean of the squares: subtract the square of the mean.", wrong.second_moment),
        Slip("That estimates KL(q||p): d is log p - log q.", wrong.other_divergence),
        Slip("That is the standard deviation: the variance is asked for.", wrong.deviation),
        Slip("Outcomes that p never draws were counted.", wrong.counts_the_impossible),
        Slip(UNCHECKED.format("lengths that differ, sums that are not 1, q = 0 where p is not"), wrong.any_laws),
    ),
)

# --- expected_kl_gradient

PLACES = tuple((k, place) for place in ("reward", "loss") for k in ("k1", "k2", "k3"))


def _logits(rng: Random, size: int) -> tuple[float, ...]:
    return tuple(round(rng.uniform(-2, 2), 2) for _ in range(size))


def _placed(rng: Random) -> Case:
    size = rng.randint(2, 8)
    return Case((_logits(rng, size), _logits(rng, size), *rng.choice(PLACES)))


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
        Group(
            "placements",
            _placed,
            12,
            "The score of outcome i over logit j is [i = j] - pi_j. What weighs it: the estimate or its derivative?",
            _all_six,
        ),
        Group("equal policies", lambda rng: rng.choice(_equal(rng)), 2, "At the reference d is 0.", _equal),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_logits(rng)),
            6,
            "As many finite logits in both, and known names; else ValueError.",
            _bad_logits,
        ),
    ),
    slips=(
        Slip("As a loss, k1 has the derivative 1 everywhere, and the score has the mean 0.", wrong.k1_loss_counts),
        Slip("The derivative of k3 = e^-d - 1 + d is 1 - e^-d.", wrong.k3_slope_turned),
        Slip("That is the derivative by each outcome's log-probability: go on to the logits.", wrong.not_to_logits),
        Slip(
            "In the reward the estimate itself weighs the score; as a loss its derivative does.", wrong.places_swapped
        ),
        Slip("Samples come from the policy: its probabilities weigh, not the reference's.", wrong.drawn_elsewhere),
        Slip("A plain mean over the outcomes: samples come from the policy, so they weigh.", wrong.all_alike),
        Slip("The sign is turned: ascending the reward -k goes down this gradient.", wrong.sign_turned),
        Slip(UNCHECKED.format("names that do not exist, lengths that differ"), wrong.any_logits),
    ),
)

# --- tilted_policy


def _tilt(rng: Random) -> Case:
    size = rng.randint(2, 10)
    rewards = tuple(round(rng.uniform(-3, 3), 2) for _ in range(size))
    return Case((law(rng, size), rewards, round(rng.uniform(0.2, 5), 3)))


def _cheap(rng: Random) -> Case:
    size = rng.randint(2, 5)
    rewards = tuple(float(rng.randint(-300, 300)) for _ in range(size))
    return Case((law(rng, size), rewards, 10 ** -rng.uniform(2, 4)))


def _unreachable(rng: Random) -> Case:
    """The best reward is where the reference never goes, far above all others."""
    size = rng.randint(3, 5)
    reference = law(rng, size, 1)
    rewards = [round(rng.uniform(-1, 1), 2) for _ in range(size)]
    rewards[reference.index(0.0)] = float(rng.randint(2000, 4000))
    return Case((reference, tuple(rewards), round(rng.uniform(0.5, 2), 2)))


def _bad_tilts(rng: Random) -> list[Case]:
    good, rewards = law(rng, 3), (0.5, -1.0, 2.0)
    return [
        invalid(good, rewards, 0),
        invalid(good, rewards, -0.5),
        invalid(good, rewards, NAN),
        invalid(good, rewards[:2], 1.0),
        invalid((), (), 1.0),
        invalid((0.5, 0.5, 0.1), rewards, 1.0),
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
        Group("out of reach", _unreachable, 2, "What the reference never gives stays 0, whatever its reward."),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_tilts(rng)),
            8,
            "A law, as many finite rewards and a price > 0; else ValueError.",
            _bad_tilts,
        ),
    ),
    slips=(
        Slip("A high price holds the policy back: divide the reward by beta.", wrong.multiplied),
        Slip("The reference is forgotten: it weighs every outcome.", wrong.without_reference),
        Slip("The exponential overflows where beta is small: subtract the largest reward first.", wrong.overflows),
        Slip("Divide by the sum: a policy sums to 1.", wrong.not_normalised),
        Slip(
            "The largest reward stands where the reference never goes: all others vanish beside it.",
            wrong.shifted_by_the_impossible,
        ),
        Slip(UNCHECKED.format("a price of 0 or below, sums that are not 1"), wrong.any_tilt),
    ),
)

#: In the order of the page.
ITEMS = (KL_ESTIMATES, ESTIMATOR_MOMENTS, EXPECTED_KL_GRADIENT, TILTED_POLICY)

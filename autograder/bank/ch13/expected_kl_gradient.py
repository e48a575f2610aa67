"""Chapter 13: ``expected_kl_gradient``, gradients of KL terms."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip

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


def gradient_by_autograd(logits, reference_logits, estimator, placement):
    """A surrogate loss over all outcomes, differentiated by a library."""
    import torch

    from solutions.ch13 import kl

    kl.expected_kl_gradient(logits, reference_logits, estimator, placement)  # refuses what must be refused
    policy = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    log_p = policy.log_softmax(0)
    gaps = log_p - torch.tensor(reference_logits, dtype=torch.float64).log_softmax(0)
    estimates = {"k1": gaps, "k2": gaps.square() / 2, "k3": (-gaps).expm1() + gaps}[estimator]
    terms = estimates.detach() * log_p if placement == "reward" else estimates
    (log_p.detach().exp() * terms).sum().backward()
    return policy.grad.tolist()


def gradient_by_the_score(logits, reference_logits, estimator, placement):
    """The sum over outcomes of probability, weight and score."""
    from solutions.ch13 import kl

    kl.expected_kl_gradient(logits, reference_logits, estimator, placement)  # refuses what must be refused
    policy, reference = ([math.exp(x) / sum(map(math.exp, row)) for x in row] for row in (logits, reference_logits))
    found = [0.0] * len(policy)
    for i, (a, b) in enumerate(zip(policy, reference, strict=True)):
        d = math.log(a / b)
        values = {"k1": (d, 1.0), "k2": (d * d / 2, d), "k3": (b / a - 1 + d, 1 - b / a)}
        weight = values[estimator][placement == "loss"]
        for j, other in enumerate(policy):
            found[j] += a * weight * ((i == j) - other)
    return found


EXERCISE = Build(
    "13 kl.expected_kl_gradient",
    section="13.16",
    topic="gradients of KL terms",
    bonus=True,
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
    rights=(
        Right("a library differentiates a surrogate", program=gradient_by_autograd),
        Right("score by score", program=gradient_by_the_score),
    ),
    promises=(Promise("they sum to 0", edit=("(weight - mean) for", "weight for")),),
)

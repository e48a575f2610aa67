"""Section 13.10, A reward that can be cheated, and a budget: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Question, Slip

#: The coefficients of the law in the question, as the page's fit finds them for one seed.
ALPHA, BETA = 1.37, 0.97


def peak(alpha: float = ALPHA, beta: float = BETA) -> float:
    """Where ``d (alpha - beta ln d)`` with ``d = sqrt(KL)`` is largest, in nats."""
    return math.exp(alpha / beta - 1) ** 2


QUESTIONS = (
    Choice(
        id="13-beta-zero",
        kind="trace",
        title="Sixty iterations without a price",
        section="13.10",
        options=(
            "The score goes up, the judge ends below where it started.",
            "Both go up.",
            "Both go down.",
            "The score goes down, the judge goes up.",
        ),
        correct=0,
        slips={
            1: "For the first iterations, yes. Then the policy reaches sentences that the reward model has never seen.",
            2: "The score is what training raises: it does not fall.",
            3: "Training climbs the score, and knows nothing of the judge.",
        },
        derivation="Only the score is optimised. As long as the policy writes what the reference could have written, "
        "score and judge agree. Nothing keeps it there.",
    ),
    Question(
        id="13-peak",
        kind="derive",
        title="The distance that pays most",
        section="13.10",
        ask="KL at the top",
        unit="nats",
        answer=peak,
        tolerance=0.02,
        slips=(
            Slip("That is d, the root of the divergence.", value=lambda: math.exp(ALPHA / BETA - 1)),
            Slip("There the law crosses zero: the top comes before.", value=lambda: math.exp(ALPHA / BETA) ** 2),
            Slip(
                "The derivative of d ln d is ln d + 1: the 1 is missing, and the square.",
                value=lambda: math.exp(ALPHA / BETA),
            ),
        ),
        derivation="The derivative with respect to $d$ is $\\alpha - \\beta \\ln d - \\beta$. It is 0 at $d = "
        "e^{\\alpha/\\beta - 1}$, and the divergence is $d^2$.",
    ),
)

"""Section 13.19, The best policy there is: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Question, Slip, lazily

stored = lazily("solutions.ch13.beta_sweep")

#: The prices that the question offers.
OFFERED = (0.0, 0.02, 0.1, 0.5)


#: The coefficients of the law in the question, as the page's fit finds them for one seed.
ALPHA, BETA = 1.37, 0.97


def peak(alpha: float = ALPHA, beta: float = BETA) -> float:
    """Where ``d (alpha - beta ln d)`` with ``d = sqrt(KL)`` is largest, in nats."""
    return math.exp(alpha / beta - 1) ** 2


QUESTIONS = (
    Question(
        id="13-find-beta",
        kind="design",
        title="A price for every seed",
        section="13.19",
        bonus=True,
        ask="beta",
        unit="reward per nat",
        answer=lambda: stored.best_beta(OFFERED),
        tolerance=0,
        slips=(
            Slip("That one has the highest score of the reward model, which is what went wrong.", value=0.0),
            Slip("One of its seeds ends well; the other decides.", value=0.02),
            Slip("That stays closest to the reference, and gives up what could be had.", value=0.5),
        ),
        derivation="For each beta, take the lower of the judge's two means at the end, then the beta where it is "
        "highest.",
    ),
    Question(
        id="13-peak",
        kind="derive",
        title="The distance that pays most",
        section="13.19",
        bonus=True,
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
    Choice(
        id="13-beta-ten",
        kind="trace",
        title="A price of ten",
        section="13.19",
        bonus=True,
        options=(
            "Nearly the reference.",
            "All probability on the response with the highest reward.",
            "All responses alike probable.",
        ),
        correct=0,
        slips={
            1: "That is the other end: beta near 0.",
            2: "Distance is counted from the reference, not from the uniform distribution.",
        },
        derivation="The best policy is proportional to $\\pi_{\\mathrm{ref}}(x)\\, e^{r(x)/\\beta}$. With $\\beta = "
        "10$ and rewards of a few units, the second factor is close to the same for all.",
    ),
    Question(
        id="13-bon",
        kind="derive",
        title="Best of sixteen",
        section="13.19",
        bonus=True,
        ask="KL to the reference, at most",
        unit="nats",
        answer=lambda: math.log(16) - 15 / 16,
        tolerance=0.001,
        slips=(
            Slip(
                "That is ln n: the density n F^(n-1) is that high for the very best alone.",
                value=lambda: math.log(16),
            ),
            Slip("The fraction is (n - 1)/n, not 1.", value=lambda: math.log(16) - 1),
            Slip("That logarithm is in bits.", value=lambda: math.log2(16) - 15 / 16),
        ),
        derivation="The best of $n$ is drawn with density $n F^{n-1}$ against the reference, where $F$ is its rank "
        "between 0 and 1. $\\int_0^1 n F^{n-1} \\ln(n F^{n-1})\\, dF = \\ln n - (n-1)/n$. Ties make it less.",
    ),
)

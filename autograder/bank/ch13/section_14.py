"""Section 13.14, Prices in numbers: its questions."""

from __future__ import annotations

import math

from autograder.items import Part, Question, Slip

#: Log-ratios of the eight tokens of a response, its score and the price of a nat.
LOG_RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)

SCORE, BETA = 0.5, 0.02


def score_after(beta: float, score: float = 0.85, kl: float = 0.45) -> float:
    return score - beta * kl


def adapted(error: float, rate: float = 0.1, beta: float = 0.2) -> float:
    return beta * (1 + rate * error)


QUESTIONS = (
    Question(
        id="13-reward-sum",
        kind="derive",
        title="What a response is paid",
        section="13.14",
        bonus=True,
        ask="sum of the rewards",
        unit="",
        answer=lambda: SCORE - BETA * math.fsum(LOG_RATIOS),
        tolerance=1e-6,
        slips=(
            Slip(
                "The sign of the penalty is wrong: these tokens were less likely than under the reference.",
                value=lambda: SCORE + BETA * math.fsum(LOG_RATIOS),
            ),
            Slip("That is the score alone.", value=SCORE),
            Slip("That is the sum of k1: it is priced with beta and joined with the score.", value=-0.2),
            Slip(
                "The score is paid at every token: it belongs to the last.",
                value=lambda: len(LOG_RATIOS) * SCORE - BETA * math.fsum(LOG_RATIOS),
            ),
        ),
        derivation="$\\sum_t r_t = \\text{score} - \\beta \\sum_t \\log(\\pi/\\pi_{ref})$. Add the eight log-ratios "
        "first.",
    ),
    Question(
        id="13-per-token",
        kind="derive",
        title="Per token, per response",
        section="13.14",
        bonus=True,
        ask="penalty of the response",
        unit="",
        answer=lambda: 0.02 * 128 * 0.23,
        tolerance=0.001,
        slips=(
            Slip("That is one token.", value=0.02 * 0.23),
            Slip("Those are nats: beta is missing.", value=128 * 0.23),
        ),
        derivation="$\\beta$ times the tokens times the nats of each.",
    ),
    Question(
        id="13-k1-beta",
        kind="derive",
        title="Four prices",
        section="13.14",
        bonus=True,
        parts=tuple(
            Part(
                f"beta {beta:g}",
                "",
                lambda beta=beta: score_after(beta),
                1e-6,
                (Slip("Distance costs: the penalty is taken away.", value=score_after(-beta)),) if beta else (),
            )
            for beta in (0.0, 0.1, 0.5, 1.0)
        ),
        derivation="Score minus $\\beta$ times the divergence of the response.",
    ),
    Question(
        id="13-adaptive-beta",
        kind="derive",
        title="A price that follows",
        section="13.14",
        bonus=True,
        ask="the next beta",
        unit="",
        answer=lambda: adapted(min(12 / 6 - 1, 0.2)),
        tolerance=1e-6,
        slips=(
            Slip("The error is clipped at 0.2 before it counts.", value=lambda: adapted(12 / 6 - 1)),
            Slip("The clipped error counts a tenth.", value=lambda: adapted(0.2, rate=1.0)),
            Slip("Too far from the reference: the price rises.", value=lambda: adapted(-0.2)),
        ),
        derivation="The relative error is $12/6 - 1$, clipped to 0.2; a tenth of it is added to 1.",
    ),
)

"""Section 13.5, Rewards of tokens: its questions."""

from __future__ import annotations

import math

from autograder.items import Choice, Part, Question, Slip

#: Log-ratios of the eight tokens of a response, its score and the price of a nat.
LOG_RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)

SCORE, BETA = 0.5, 0.02


def score_after(beta: float, score: float = 0.85, kl: float = 0.45) -> float:
    return score - beta * kl


QUESTIONS = (
    Question(
        id="13-reward-sum",
        kind="derive",
        title="What a response is paid",
        section="13.5",
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
    Choice(
        id="13-negative-kl",
        kind="trace",
        title="A penalty that pays",
        section="13.5",
        options=(
            "k1 of one sample may be negative; only its mean over many is a KL divergence.",
            "The reference has a fault: a KL divergence is never negative.",
            "beta is too small.",
            "The response should have been masked.",
        ),
        correct=0,
        slips={
            1: "The divergence is never negative; a sample's log-ratio is, where the reference likes the token better.",
            2: "The sign of the penalty does not depend on beta.",
            3: "These are real tokens, and they count.",
        },
        derivation="k1 is $\\log \\pi - \\log \\pi_{ref}$ of one token. Where the reference finds the token more "
        "likely, it is below 0. Averaged over tokens that the policy draws, it is the divergence.",
    ),
    Question(
        id="13-per-token",
        kind="derive",
        title="Per token, per response",
        section="13.5",
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
        section="13.5",
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
)

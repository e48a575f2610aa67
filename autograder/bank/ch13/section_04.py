"""Section 13.4, What a word earns: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-negative-kl",
        kind="trace",
        title="A penalty that pays",
        section="13.4",
        options=(
            "k1 of one sample may be negative; only its mean over all that may be drawn may not.",
            "The reference has a fault: a log-ratio is never negative.",
            "beta is too small.",
            "The response should have been masked.",
        ),
        correct=0,
        slips={
            1: "The mean is never negative; a sample's log-ratio is, where the reference likes the token better.",
            2: "The sign of the penalty does not depend on beta.",
            3: "These are real tokens, and they count.",
        },
        derivation="k1 is $\\log \\pi - \\log \\pi_{ref}$ of one token. Where the reference finds the token more "
        "likely, it is below 0. Averaged over all tokens that the policy may draw, it is never negative.",
    ),
)

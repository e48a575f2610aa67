"""Section 11.22, Speculation, simulated: its question."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-in-stretches",
        kind="trace",
        title="Easy and hard stretches",
        section="11.22",
        bonus=True,
        options=(
            "fewer: the easy stretches are cut at five tokens a round, the hard ones get little more than one",
            "as many: the share of right guesses is the same, and the formula asks for nothing else",
            "more: wrong guesses that stand together end fewer of the rounds that were going well",
            "more: in the easy stretches all drafts are accepted, and these are two thirds of the text",
        ),
        correct=0,
        derivation=(
            "Count rounds, not tokens. The hard third of the text takes more rounds than the easy two thirds, and each "
            "writes little more than one token. In return the easy stretches have long runs of right guesses, but a "
            "round ends after four drafts all the same. What counts is the mean of the *rounds* that a token takes, "
            "$1/(1 + \\alpha + \\dots + \\alpha^4)$, and it bends upwards: two extremes take more than the middle."
        ),
        slips={
            1: "The formula assumes that each guess is right independently of the others, and here it is not.",
            2: "They do, but a round that goes well ends after four drafts anyway: the long run gains little.",
            3: "A round writes five tokens at most, and the hard third takes more rounds than the easy two thirds.",
        },
    ),
)

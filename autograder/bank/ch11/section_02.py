"""Section 11.2, Why checking is cheap: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-why-fast",
        kind="trace",
        title="Why verification is cheap",
        section="11.2",
        options=(
            "a decode step is bound by reading the weights, which five positions share",
            "a decode step is bound by its matrix products, which are fast for five positions",
            "the draft model is fast",
            "the keys and values of the five positions are in the cache",
        ),
        correct=0,
        derivation="One pass reads every weight once, for one position or for five. While that reading takes longer "
        "than the products, four more positions are almost free.",
        slips={
            1: "If products were the bound, five positions would cost five times as much.",
            2: "The draft's speed says what drafting costs; the target's pass is another matter.",
            3: "They are new: the pass computes them. The cache holds those of the tokens before.",
        },
    ),
)

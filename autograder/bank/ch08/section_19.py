"""Section 8.19, The same tokens, in one pass and one by one: its question."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="08-one-by-one",
        kind="trace",
        title="64 tokens, in one pass or in 64",
        section="8.19",
        bonus=True,
        options=(
            "64 passes, many times as long: each of them reads all weights and calls all operations",
            "64 passes, but by little: thanks to the cache they multiply no more than the one pass",
            "the one pass: attention over 64 tokens is a square, and one by one it is not",
            "neither: the same products take the same time, however they are cut into passes",
        ),
        correct=0,
        derivation=(
            "The products are the same, and so is attention in all: with a cache, token $i$ looks at $i$ keys either "
            "way. What differs is paid once per pass: reading the weights, and calling some hundred operations from "
            "Python. A pass of one token is hardly shorter than a pass of sixteen."
        ),
        slips={
            1: "They multiply the same, but each pass reads all weights again and calls all operations again.",
            2: "The masked half of the square aside, it is the same work: token $i$ looks at $i$ keys.",
            3: "Reading the weights and calling operations are paid once per pass, not once per token.",
        },
    ),
)

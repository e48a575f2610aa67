"""Section 8.17, A batch with padding: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="08-flat-row",
        kind="trace",
        title="Two prompts and an answer",
        section="8.17",
        options=(
            "10: the tokens lie in one row, and nothing is padded",
            "18: a rectangle of three rows, each as long as the longest prompt",
            "3: one token of each request",
            "11: the answer's newest token, and the token that follows it",
        ),
        correct=0,
        derivation="$6 + 3 + 1$. Each token in the row knows its owner and its position. Attention needs no more to "
        "keep the requests apart, so the row needs no padding.",
        slips={
            1: "The shorter rows of such a rectangle would hold 8 tokens that nobody asked for.",
            2: "A new prompt enters the pass with all of its tokens.",
            3: "The token that follows is what the pass computes. It is not there yet.",
        },
        bonus=True,
    ),
)

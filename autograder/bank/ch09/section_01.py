"""Section 9.1, Why cache: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip

QUESTIONS = (
    Question(
        id="09-token-forwards",
        kind="derive",
        title="Tokens through the weights",
        section="9.1",
        parts=(
            Part(
                "without a cache",
                "tokens",
                lambda: sum(100 + i for i in range(50)),
                tolerance=0,
                slips=(
                    Slip("Not every step has the full length: step i runs 100 + i tokens.", value=7500),
                    Slip("That is with a cache: without one each step runs all tokens again.", value=149),
                    Slip("The first step runs the prompt alone: steps count from 0.", value=6275),
                ),
            ),
            Part(
                "with a cache",
                "tokens",
                lambda: 100 + 50 - 1,
                tolerance=0,
                slips=(
                    Slip("The last token is never fed back.", value=150),
                    Slip("The prompt has to go through the weights, too.", value=50),
                ),
            ),
        ),
        derivation="Step $i$, from 0, runs $p + i$ tokens without a cache: $n p + n(n-1)/2$ in all. With one, the "
        "prompt goes through once, and each new token but the last is fed back: $p + n - 1$.",
    ),
    Choice(
        id="09-still-quadratic",
        kind="trace",
        title="Attention over a whole generation",
        section="9.1",
        options=("n²", "n", "n log n", "n³"),
        correct=0,
        derivation="Token $i$ attends to $i$ tokens, with a cache as without: one step is linear, and "
        "$1 + 2 + \\dots + n$ is quadratic. Without a cache every step computes the attention of all tokens again.",
        slips={
            1: "That counts the projections alone: each new token attends to all before it.",
            2: "Nothing is halved here: step i reads i keys.",
            3: "That is without a cache: each step computes all rows of the attention again.",
        },
    ),
)

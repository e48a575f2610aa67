"""Section 9.1, Why remember: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip

QUESTIONS = (
    Estimate(
        id="09-token-forwards",
        title="How much work does the cache save?",
        section="9.1",
        label="token passes without a cache, over token passes with one",
        unit="times",
        answer=lambda: sum(100 + i for i in range(50)) / (100 + 50 - 1),
        factor=1.3,
        scale=(1.0, 1000.0),
        landmarks=(
            Landmark(2.0, "2", "half of the work"),
            Landmark(50.0, "50", "as many as there are new tokens"),
            Landmark(1000.0, "1,000", "a thousandth of the work"),
        ),
        slips=(
            Slip("That is prompt and answer over the answer. Without a cache every step runs the whole text.", value=3),
            Slip("That is the longest step over one token; count all tokens of all steps.", value=149),
        ),
        derivation="Step $i$, from 0, runs $100 + i$ tokens without a cache: $50 \\cdot 100 + 50 \\cdot 49 / 2 = "
        "6{,}225$ in all. With one, the prompt runs once, and each new token but the last is fed back: $100 + 50 - 1 = "
        "149$. That is nearly as many times fewer as there are new tokens.",
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

"""Section 10.3, How small may a chunk be?: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-chunk-size",
        kind="design",
        title="A budget for two services",
        section="10.3",
        options=(
            "2,048 for the chat, 8,192 for the night",
            "128 for the chat, 8,192 for the night",
            "8,192 for both",
            "8,192 for the chat, 2,048 for the night",
        ),
        correct=0,
        derivation="A pass of 2,048 tokens takes 33 ms, within the promise of 50. Of 8,192 it takes 133 ms: no promise "
        "is broken at night, and the weights are read least often. 128 tokens keep the chat smooth, too, but below 295 "
        "the pass takes 4.8 ms whatever it computes: the multipliers mostly wait, and long prompts take longer.",
        slips={
            1: "Below the ridge a pass takes as long as reading the weights: 128 tokens use less than half the peak.",
            2: "A pass of 8,192 tokens takes 133 ms: each chat waits that long for a token.",
            3: "Nobody watches at night; by day a pass of 133 ms is a gap that everybody sees.",
        },
    ),
)

"""Section 11.17, A mask for logits: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-nan",
        kind="trace",
        title="A mask by multiplication",
        section="11.17",
        bonus=True,
        options=("1", "0.731", "NaN", "an error is raised"),
        correct=2,
        slips={
            0: "It would be, if 0 times minus infinity were 0.",
            1: "That is the softmax of 2 and 1, without a mask.",
            3: "Floating-point arithmetic goes on with NaN, without a word.",
        },
        derivation="For the allowed token the second term is $0 \\times -\\infty$, which is not a number. One NaN in "
        "the sum of the softmax makes every element NaN.",
    ),
)

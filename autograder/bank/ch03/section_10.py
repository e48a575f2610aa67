"""Section 3.10, Exact statistics from parts: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="03-token-loss",
        kind="derive",
        title="The loss per token",
        section="3.10",
        options=(
            "the log says 3.0; the loss per token is 2.2",
            "the log says 3.0, and that is the loss per token",
            "the log says 2.2: an all-reduce weighs each rank by its data",
            "the log says 3.0; the loss per token is 3.8",
        ),
        correct=0,
        derivation="Add up the losses and the tokens, then divide: "
        "$\\frac{900\\cdot 2.0 + 100\\cdot 4.0}{900 + 100}$. The mean of the two means gives 100 tokens as much "
        "weight as 900.",
        slips={
            1: "Nine tokens in ten have a mean of 2.0, so the mean of all cannot lie halfway.",
            2: "An all-reduce sees two numbers, 2.0 and 4.0. It knows nothing of the tokens behind them.",
            3: "The weights are swapped: rank 0 has 900 of the tokens.",
        },
    ),
)

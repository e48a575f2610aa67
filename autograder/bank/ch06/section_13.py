"""Section 6.13, Operators and layers as modules: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip

QUESTIONS = (
    Question(
        id="06-bias-error",
        kind="derive",
        title="A bias before the sum",
        section="6.13",
        bonus=True,
        ask="error of Y, in biases",
        unit="",
        answer=lambda: sum(1.0 for _ in range(4)) - 1,
        slips=(
            Slip("That is how often it was added, and once is right.", value=4),
            Slip("The partial sums are added, not averaged.", value=3 / 4),
        ),
        derivation="Each of the $t = 4$ ranks adds the bias to its partial sum, and $g$ adds the sums up. Once would "
        "be right, so the error is what is added beyond that.",
    ),
)

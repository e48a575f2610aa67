"""Section 13.13, Comparisons in numbers: its questions."""

from __future__ import annotations

import math

from autograder.items import Part, Question, Slip

QUESTIONS = (
    Question(
        id="13-bt",
        kind="derive",
        title="A gap of one",
        section="13.13",
        bonus=True,
        parts=(
            Part(
                "P(chosen is preferred)",
                "",
                lambda: 1 / (1 + math.exp(-1)),
                0.001,
                (
                    Slip("That would be no gap at all.", value=0.5),
                    Slip("That is the chance of the rejected one.", value=lambda: 1 / (1 + math.e)),
                ),
            ),
            Part(
                "loss of the pair",
                "nats",
                lambda: math.log1p(math.exp(-1)),
                0.001,
                (
                    Slip("That is the loss without a gap.", value=lambda: math.log(2)),
                    Slip("Chosen and rejected are swapped.", value=lambda: math.log1p(math.e)),
                ),
            ),
        ),
        derivation="The chance is the sigmoid of the gap, $\\sigma(1) = 1/(1 + e^{-1})$; the loss is the negative of "
        "its natural logarithm.",
    ),
)

"""Section 13.9, Losses: its questions."""

from __future__ import annotations

import math
from statistics import fmean

from autograder.items import Part, Question, Slip

#: Losses of the tokens of two responses.
LOSSES = ((1.0, 1.0), (2.0,) * 8)


QUESTIONS = (
    Question(
        id="13-average",
        kind="derive",
        title="Three averages",
        section="13.9",
        parts=(
            Part(
                "mean over tokens",
                "",
                lambda: fmean(loss for row in LOSSES for loss in row),
                1e-6,
                (Slip("That is the mean of the two means.", value=lambda: fmean(map(fmean, LOSSES))),),
            ),
            Part(
                "mean over responses of their means",
                "",
                lambda: fmean(map(fmean, LOSSES)),
                1e-6,
                (Slip("That is the mean over tokens.", value=lambda: fmean(loss for row in LOSSES for loss in row)),),
            ),
            Part(
                "sums divided by a constant 8, mean over responses",
                "",
                lambda: fmean(math.fsum(row) / 8 for row in LOSSES),
                1e-6,
                (Slip("Divide by 8 and by the two responses.", value=lambda: math.fsum(map(math.fsum, LOSSES)) / 8),),
            ),
        ),
        derivation="By token: all ten losses in one mean. By response: the mean of each, then the mean of these. By a "
        "constant: the sum of each over 8, then the mean of these.",
    ),
)

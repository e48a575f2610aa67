"""Section 13.20, Groups and means in numbers: its questions."""

from __future__ import annotations

import math
from statistics import fmean, pstdev, stdev

from autograder.items import Part, Question, Slip

#: Rewards of one group: one success.
ONE = (1.0, 0.0, 0.0, 0.0)


def grouped(deviation: float) -> float:
    """The advantage of the success in a group with one, for a deviation of its rewards."""
    return (1 - fmean(ONE)) / (deviation + 1e-4)


def leave_one_out() -> float:
    """The success against the mean of the others."""
    return ONE[0] - fmean(ONE[1:])


#: Losses of the tokens of two responses.
LOSSES = ((1.0, 1.0), (2.0,) * 8)


QUESTIONS = (
    Question(
        id="13-grpo-one",
        kind="derive",
        title="One success in four",
        section="13.20",
        bonus=True,
        ask="advantage of the success",
        unit="",
        answer=lambda: grouped(stdev(ONE)),
        tolerance=0.001,
        slips=(
            Slip("That is the deviation of a population: divide by G - 1.", value=lambda: grouped(pstdev(ONE))),
            Slip("It is still to be divided by the deviation of the group.", value=0.75),
            Slip("That is the success against the mean of the others, and not divided.", value=leave_one_out),
        ),
        derivation="The mean of the group is 1/4, the sum of squared differences $0.75^2 + 3 \\cdot 0.25^2$; divide "
        "it by 3 and take the root for the deviation.",
    ),
    Question(
        id="13-grpo-equal",
        kind="derive",
        title="All right",
        section="13.20",
        bonus=True,
        ask="advantage of each answer",
        unit="",
        answer=lambda: 0.0,
        tolerance=0,
        slips=(Slip("That is the reward: the mean of the group is taken away.", value=1),),
        derivation="Every reward equals the mean. What eps adds to the deviation keeps 0/0 away, and the prompt "
        "teaches nothing.",
    ),
    Question(
        id="13-rloo",
        kind="derive",
        title="Leave one out",
        section="13.20",
        bonus=True,
        ask="advantage of the success",
        unit="",
        answer=leave_one_out,
        tolerance=1e-6,
        slips=(
            Slip("That is against the mean of all four, itself included.", value=0.75),
            Slip("It is not divided by a deviation.", value=lambda: grouped(stdev(ONE))),
        ),
        derivation="Its reward minus the mean of the three others. In general $G/(G-1)$ times the centred reward.",
    ),
    Question(
        id="13-average",
        kind="derive",
        title="Three averages",
        section="13.20",
        bonus=True,
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

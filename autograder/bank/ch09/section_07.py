"""Section 9.7, Attention through the table: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-times-zero",
        kind="trace",
        title="Is a weight of 0 enough?",
        section="9.7",
        options=(
            "NaN: 0 times NaN is NaN, and a sum with NaN is NaN",
            "the right output: a weight of 0 leaves the slot out",
            "an error: NaN is not a number",
            "nearly the right output: one of four values is off",
        ),
        correct=0,
        derivation="In floating point 0 times NaN, or 0 times infinity, is NaN, and it stays NaN in every sum. A slot "
        "that must not count has to be left out before it is multiplied, not multiplied by 0.",
        slips={
            1: "That holds for numbers. The slot may hold NaN or infinity, left by anybody.",
            2: "Arithmetic with NaN goes on without an error: that is what makes it dangerous.",
            3: "The output is a sum over all slots: one NaN makes every number of it NaN.",
        },
    ),
)

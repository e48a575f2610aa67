"""Section 6.1, One matrix, several ranks: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="06-cheaper-cut",
        kind="trace",
        title="The cut that sends less",
        section="6.1",
        options=(
            "The column cut: an all-gather sends half as many bytes as an all-reduce of the same result.",
            "The row cut: every rank already has numbers for the whole result, so less is missing.",
            "Neither: all ranks end with the whole result, so they must receive the same number of bytes.",
            "The column cut: slices are only put side by side, and that takes no communication.",
        ),
        correct=0,
        derivation="Ranks that hold slices only have to exchange them: an all-gather, one trip around the ring. Ranks "
        "that hold partial sums have to add them up and hand the sums out again: an all-reduce, two trips. So if "
        "every rank needs the whole result, the column cut sends half as many bytes.",
        slips={
            1: "Those numbers are summands. None of them is final, and adding them up takes a trip of its own.",
            2: "What they end with is the same, but summands travel once to be added and the sums travel again.",
            3: "The slices are on different ranks. Putting them side by side is an all-gather.",
        },
    ),
)

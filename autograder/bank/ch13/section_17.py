"""Section 13.17, Advantages with masks: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-whiten-row",
        kind="trace",
        title="Each response by itself",
        section="13.17",
        bonus=True,
        options=("The same, but for what eps does.", "Ten times smaller.", "The mirror image.", "Zero."),
        correct=0,
        slips={
            1: "They were, before they were divided by a deviation that is ten times smaller, too.",
            2: "That is what a reward of -1 would give.",
            3: "The four advantages differ from each other, so whitening spreads them out again.",
        },
        derivation="Whitening takes away the row's mean and divides by its deviation. A row that is ten times another "
        "one has ten times its mean and ten times its deviation: nothing is left of the factor. What the reward said "
        "is gone.",
    ),
)

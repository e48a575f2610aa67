"""Section 11.7, Only texts that fit: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="11-eos-when",
        kind="trace",
        title="When the end may be drawn",
        section="11.7",
        options=(
            "Exactly in states in which the text is complete.",
            "In every state: the model decides when it is done.",
            "In no state: the text ends at the limit of tokens.",
            "Only where no other token is allowed.",
        ),
        correct=0,
        slips={
            1: "Then a text may end in the middle of a string.",
            2: "Then no text ends by itself, and whether it is whole at the limit is chance.",
            3: "The number 12 is complete, and so is 123: ending must be allowed beside going on.",
        },
        derivation="EOS is a token like any other: it is allowed where the text so far, taken as a whole, is valid. "
        "That is what an accepting state means.",
    ),
)

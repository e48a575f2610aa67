"""Section 10.18, A ring of placeholders: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-placeholder",
        kind="trace",
        title="Placeholders",
        section="10.18",
        bonus=True,
        options=("[5, 7, 9, 3]", "[5, 9, 7, 3]", "[5, -1, -2, 3]", "[7, 9, 5, 3]"),
        correct=0,
        derivation="-1 names slot 1 and -2 names slot 2. What is not negative is a token and stays.",
        slips={
            1: "-1 names slot 1, which holds 7.",
            2: "These must be replaced before the model sees them: no token is negative.",
            3: "Each token keeps its place.",
        },
    ),
)

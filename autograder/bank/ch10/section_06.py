"""Section 10.6, A token that is not there yet: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip

QUESTIONS = (
    Choice(
        id="10-placeholder",
        kind="trace",
        title="Placeholders",
        section="10.6",
        options=("[5, 7, 9, 3]", "[5, 9, 7, 3]", "[5, -1, -2, 3]", "[7, 9, 5, 3]"),
        correct=0,
        derivation="-1 names slot 1 and -2 names slot 2. What is not negative is a token and stays.",
        slips={
            1: "-1 names slot 1, which holds 7.",
            2: "These must be replaced before the model sees them: no token is negative.",
            3: "Each token keeps its place.",
        },
    ),
    Question(
        id="10-wasted-eos",
        kind="derive",
        title="One token too many",
        section="10.6",
        ask="wasted share of the sampled tokens",
        unit="",
        answer=lambda: 1 / 301,
        tolerance=0.02,
        slips=(Slip("The CPU learns of the end one step late, when the next step runs already.", value=0),),
        derivation="Each request runs one step more than it needs: one token wasted of $300 + 1$ sampled.",
    ),
)

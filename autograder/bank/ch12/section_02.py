"""Section 12.2, A language model is an agent: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip

QUESTIONS = (
    Choice(
        id="12-llm-state",
        kind="trace",
        title="The transition of a language model",
        section="12.2",
        options=(
            "it appends the chosen token, without chance",
            "it draws the next token from the softmax",
            "it scores the text so far",
        ),
        correct=0,
        derivation="The state is the text so far, the action a token. Given both, the next state is certain: "
        "the text and the token. All chance is in the policy.",
        slips={
            1: "Drawing is what the policy does; the transition takes the drawn token.",
            2: "A score is the reward's business.",
        },
    ),
    Question(
        id="12-gamma-long",
        kind="derive",
        title="A discount over a thousand tokens",
        section="12.2",
        ask="share",
        unit="of the reward",
        answer=lambda: 0.99**999,
        slips=(
            Slip("That is one minus the discount: it is raised to the number of steps.", value=0.01),
            Slip("That is after a hundred tokens.", value=lambda: 0.99**100),
            Slip("Token 1,000 is 999 steps after token 1.", value=lambda: 0.99**1000),
        ),
        derivation="Every step from token 1 to token 1,000 costs one factor of 0.99.",
    ),
)

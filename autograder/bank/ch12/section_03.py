"""Section 12.3, Which word earned it?: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip

QUESTIONS = (
    Choice(
        id="12-llm-state",
        kind="trace",
        title="The transition of a language model",
        section="12.3",
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
    Estimate(
        id="12-gamma-long",
        title="A discount over a thousand tokens",
        section="12.3",
        label="share of the reward that token 1 sees",
        unit="of the reward",
        answer=lambda: 0.99**999,
        factor=3.0,
        scale=(1e-6, 1.0),
        landmarks=(
            Landmark(1.0, "1", "all of it"),
            Landmark(0.37, "1/e", "what a discount of 0.99 leaves after a hundred tokens"),
            Landmark(0.001, "0.001", "a thousandth"),
        ),
        slips=(
            Slip("That is one minus the discount: the discount is raised to the number of steps.", value=0.01),
            Slip("That is after a hundred tokens.", value=lambda: 0.99**100),
        ),
        derivation="Every step from token 1 to token 1,000 costs one factor of 0.99, so $0.99^{999}$.",
    ),
)

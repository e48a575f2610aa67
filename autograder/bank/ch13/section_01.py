"""Section 13.1, Four models, two of them learn: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-who-learns",
        kind="trace",
        title="Who learns",
        section="13.1",
        options=(
            "the actor and the critic",
            "the actor alone",
            "the actor and the reward model",
            "the actor, the critic and the reward model",
            "all four",
        ),
        correct=0,
        derivation="The reward model says what is good and the reference says where the actor came from: both are "
        "yardsticks, and a yardstick that moves measures nothing. The critic predicts returns, which change with the "
        "actor: it has to follow.",
        slips={
            1: "The critic predicts the returns of an actor that changes: it learns with it.",
            2: "The reward model is trained before and then frozen; the critic learns.",
            3: "The reward model is trained before and then frozen.",
            4: "Reward model and reference are frozen: they are what the actor is measured against.",
        },
    ),
)

"""Section 13.10, A reward that can be cheated, and a budget: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="13-beta-zero",
        kind="trace",
        title="Sixty iterations without a price",
        section="13.10",
        options=(
            "The score goes up, the judge ends below where it started.",
            "Both go up.",
            "Both go down.",
            "The score goes down, the judge goes up.",
        ),
        correct=0,
        slips={
            1: "For the first iterations, yes. Then the policy reaches sentences that the reward model has never seen.",
            2: "The score is what training raises: it does not fall.",
            3: "Training climbs the score, and knows nothing of the judge.",
        },
        derivation="Only the score is optimised. As long as the policy writes what the reference could have written, "
        "score and judge agree. Nothing keeps it there.",
    ),
)

"""Section 12.10, What carries over to language models: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-forgetting",
        kind="trace",
        title="Staying near the start",
        section="12.10",
        options=(
            "a KL penalty against the starting model",
            "PPO's clipping",
            "an entropy bonus",
            "a small discount",
        ),
        correct=0,
        derivation="Clipping limits what one update gains by moving; the next one starts from where the last "
        "one ended. Only a term that names the starting model holds the policy near it.",
        slips={
            1: "Clipping limits one update, not the sum of many.",
            2: "Entropy keeps the policy from becoming certain, wherever it goes.",
            3: "A discount says how far rewards reach back, nothing about where the policy started.",
        },
    ),
)

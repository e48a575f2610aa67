"""Section 10.6, Two kinds of GPU?: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-when-split",
        kind="design",
        title="When two kinds of GPU lose",
        section="10.6",
        options=(
            "an agent sends 20,000 tokens, of which 19,800 are cached where the answer is written",
            "prompts of 4,000 tokens, answers of 300, and a promise of 30 ms for every gap",
            "a thousand requests a second, mixed",
            "a model of 70B with grouped heads and NVLink between the GPUs",
        ),
        correct=0,
        derivation="200 tokens are a small chunk, which hardly lengthens a pass of answers. Computed elsewhere, "
        "20,000 tokens of keys and values would have to travel.",
        slips={
            1: "Long prompts beside a strict promise are what the split is for.",
            2: "Many requests let both kinds be busy in the right proportion.",
            3: "Few bytes for each token and a fast link make the journey cheap.",
        },
    ),
)

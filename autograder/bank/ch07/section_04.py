"""Section 7.4, 1F1B: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="07-in-flight",
        kind="trace",
        title="What each stage holds",
        section="7.4",
        options=(
            "8, 6, 4 and 2 GB, from the first stage to the last",
            "8 GB on every stage",
            "6, 4, 2 and 0 GB, from the first stage to the last",
            "24 GB on every stage",
        ),
        correct=0,
        derivation="Stage $i$ runs $p - 1 - i$ forwards to warm up and one more before its first backward: $p - i$ "
        "micro-batches of 2 GB each, with $p = 4$.",
        slips={
            1: "Only the first stage holds four micro-batches. The last stage runs a backward after each forward.",
            2: "That is the warm-up alone. One more forward comes before the first backward.",
            3: "That is GPipe, which holds all 12 micro-batches.",
        },
    ),
)

"""Section 14.4, The same weights, cut twice: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-mode-free",
        kind="trace",
        title="A change that moves nothing",
        section="14.4",
        options=(
            "When what each GPU writes with lies within what it trains",
            "Always: together, the GPUs hold every element already",
            "When the slices are dealt to neighbors",
            "Never: two layouts of the same weights always differ somewhere",
        ),
        correct=0,
        derivation="A plan moves what a rank wants and does not hold. Equal layouts are the simplest case. A copy of "
        "all weights for training holds every slice for writing, too.",
        slips={
            1: "Another GPU's memory is not one's own: the elements have to come from there.",
            2: "Then each GPU keeps what it has and needs fewer others. In the picture it still lacks 12 elements.",
            3: "They may be equal, and then nothing moves.",
        },
    ),
)

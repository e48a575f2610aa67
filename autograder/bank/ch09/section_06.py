"""Section 9.6, Blocks and a table: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="09-whose-block",
        kind="trace",
        title="Who gets which block?",
        section="9.6",
        options=(
            "Z: 5 1; the 13th token of Y: 0",
            "Z: 0 1; the 13th token of Y: 5",
            "Z: 5 0; the 13th token of Y: 1",
            "Z: 1 0; the 13th token of Y: 5",
        ),
        correct=0,
        derivation="X gets 0 and 1, Y gets 2, 3 and 4, and 5 is free. X ends: its last block joins the tail first, "
        "so the queue is 5 1 0. Z's 6 tokens take 5 and 1. Y's 9 tokens fill two blocks and a quarter of the third, "
        "so only the 13th needs another block: 0.",
        slips={
            1: "Freed blocks join the tail: block 5 has waited longest.",
            2: "A sequence is freed from its last block to its first, so 1 comes before 0.",
            3: "Block 5 was free before X ended, so it stands at the head.",
        },
    ),
)

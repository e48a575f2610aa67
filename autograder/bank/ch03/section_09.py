"""Section 3.9, The last bit: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="03-bits",
        kind="trace",
        title="One sum, four orders",
        section="3.9",
        options=(
            "the same four numbers on every rank, but not all four are equal",
            "2, 2, 2, 2 on every rank, the exact sum",
            "different numbers on each rank, since each adds in its own order",
            "0, 0, 0, 0 on every rank, since next to 1e8 a 1 is always lost",
        ),
        correct=0,
        derivation="Each chunk is added up on its way around the ring and then *copied* to all ranks, so all ranks "
        "hold the same bits. But each chunk started on another rank. A 1 survives only where the two large numbers "
        "have canceled before it is added.",
        slips={
            1: "That is exact arithmetic. Near $10^8$, float32 numbers are 8 apart.",
            2: "That happens if whole tensors go around and each rank adds for itself. Here one rank finishes each "
            "chunk, and the others copy it.",
            3: "It is lost only if it meets a large number. In some chunks the large ones cancel before the last 1.",
        },
    ),
)

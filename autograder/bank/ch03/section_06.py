"""Section 3.6, Ring reduce-scatter: its questions."""

from __future__ import annotations

from autograder.items import Choice, Order

QUESTIONS = (
    Order(
        id="03-ring-order",
        kind="trace",
        title="The walk of chunk 2",
        section="3.6",
        steps=(
            "rank 3 sends its own 42",
            "rank 0 adds 12 and holds 54",
            "rank 1 adds 22 and holds 76",
            "rank 2 adds 32 and holds 108, the complete sum",
            "rank 3 receives 108 and overwrites its 42",
        ),
        derivation="A chunk moves one rank to the right in each step. It ends its first trip on the rank of its own "
        "number, so it starts one rank further on: chunk 2 starts on rank 3, and passes ranks 0 and 1 on its way to "
        "rank 2. The finished sum then makes a second trip, on which nobody adds.",
    ),
    Choice(
        id="03-chunk-owner",
        kind="trace",
        title="Who owns what after the reduce-scatter",
        section="3.6",
        options=(
            "chunk 3",
            "chunk 2, its own",
            "chunk 1",
            "none: every sum still lacks a number",
        ),
        correct=0,
        derivation="A chunk moves one rank to the right in each of $N-1$ steps. Chunk 3 starts on rank 3 and is "
        "complete three ranks further on, on rank 2. So rank $i$ ends with chunk $(i+1) \\bmod N$.",
        slips={
            1: "Rank 2 gives chunk 2 away in the first step, and three steps do not bring it back. To end with chunk "
            "2, rank 2 has to start with chunk 1.",
            2: "Chunk 1 starts on rank 1, and three steps to the right take it to rank 0, not to rank 2.",
            3: "The sender's own number is in the chunk from the start, so three additions make four contributions.",
        },
    ),
)

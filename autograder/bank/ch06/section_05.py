"""Section 6.5, Sequence parallelism: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="06-sequence-free",
        kind="trace",
        title="Two collectives in place of one",
        section="6.5",
        options=(
            "As many: an all-reduce already consists of a reduce-scatter and an all-gather.",
            "Twice as many: two collectives each move the whole activation tensor.",
            "Half as many: each rank now handles only its own share of the tokens.",
            "Fewer by the number of ranks: both collectives move one slice per rank.",
        ),
        correct=0,
        derivation="A ring all-reduce *is* a reduce-scatter followed by an all-gather (chapter 3). Sequence "
        "parallelism moves the norm, dropout and the residual addition in between the two halves, where every rank has "
        "complete sums for its own tokens. (In the backward pass, a rank that has kept only its slice gathers once "
        "more.)",
        slips={
            1: "Each of the two moves half of what an all-reduce moves: one trip around the ring, not two.",
            2: "A rank handles fewer tokens between the collectives, but it still has to receive all the others.",
            3: "In each step of a ring a rank sends one slice, but on $N$ ranks each collective has $N-1$ steps.",
        },
    ),
)

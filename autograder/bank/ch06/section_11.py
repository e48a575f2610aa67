"""Section 6.11, Context parallelism: a ring of keys and values: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="06-causal-ring",
        kind="trace",
        title="Who works in a causal ring",
        section="6.11",
        options=(
            "Rank 0 uses one block and the last rank all of them, so everyone waits for the last rank.",
            "Every rank uses half of the blocks, so the work is even and half of a step is idle.",
            "Every rank uses all blocks, because each of them passes through every rank.",
            "The last rank uses one block, because all others belong to earlier tokens.",
        ),
        correct=0,
        derivation="A query sees only the tokens before it. Rank 0 holds the first ones, so of all the blocks that "
        "come by it can use none but its own; the last rank uses every block. All ranks have to take part in every "
        "step of the ring, so a step takes as long as its busiest rank.",
        slips={
            1: "That is the average. A query near the start of the sequence sees almost nothing, one at the end "
            "almost everything.",
            2: "All blocks do pass through, but in causal attention a query ignores the keys of later tokens.",
            3: "It is the other way around: in causal attention a query sees the earlier tokens, not the later ones.",
        },
        bonus=True,
    ),
)

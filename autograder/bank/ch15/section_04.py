"""Section 15.4, The memory: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="cap-fullest",
        kind="trace",
        title="Which stage is the fullest?",
        section="15.4",
        options=(
            "the second: it has a layer more, and nearly as many micro-batches",
            "the first: it has the most micro-batches in flight, and the embedding",
            "the last: it holds the head, and the logits of the whole vocabulary",
            "none: with a layer fewer at both ends, all stages hold the same",
        ),
        correct=0,
        derivation=(
            "Activations dominate, so multiply layers by micro-batches. Stage $i$ keeps $16 - i$ micro-batches, each "
            "for all of its layers: $7 \\cdot 16 = 112$ on the first stage, $8 \\cdot 15 = 120$ on the second, $8 "
            "\\cdot 14 = 112$ on the third, and so on down to 7 on the last."
        ),
        slips={
            1: "It keeps one micro-batch more, but of 7 layers instead of 8: compare 7 times 16 with 8 times 15.",
            2: "Head and fp32 logits take half a gigabyte each on a GPU, but it keeps a single micro-batch at a time.",
            3: "A layer fewer makes up for the embedding or the head. But the micro-batches in flight differ, too.",
        },
    ),
)

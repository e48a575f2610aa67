"""Section 7.7, Interleaving: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="07-interleaving-price",
        kind="trace",
        title="The price of interleaving",
        section="7.7",
        options=(
            "memory and messages: more activations to hold, more boundaries to cross",
            "messages alone: a shorter fill means fewer micro-batches in flight",
            "nothing: the same layers run on the same GPUs, only in another order",
            "exactness: later chunks work with weights from the step before",
        ),
        correct=0,
        derivation="A micro-batch visits every rank once for each chunk, so it crosses $vp - 1$ boundaries instead of "
        "$p - 1$: here five times as many. As for memory, rank 0 first runs $p$ micro-batches through each of its "
        "first $v - 1$ chunks. Then micro-batch 0 enters rank 0's last chunk. While it visits the $p - 1$ other ranks"
        " and its gradient comes back, rank 0 starts $2(p-1)$ more passes. So it holds the activations of $(v-1)p + 1"
        " + 2(p-1)$ chunks, "
        "each a $v$-th of a stage: $p + (p-1)/v$ whole stages' worth instead of $p$.",
        slips={
            1: "The warm-up gets longer, not shorter: rank 0 has to start all of its chunks before it can go back.",
            2: "Chunks that are neighbors in the model are on different GPUs, so every boundary becomes a message.",
            3: "All schedules in this chapter finish a step before they update: the gradients are the same.",
        },
    ),
)

"""Chapter 07: what happens and why, in pipelines and with experts."""

from __future__ import annotations

from autograder.items import Choice

CHOICES = (
    Choice(
        id="07-eight-stages",
        kind="trace",
        title="Eight GPUs and one batch",
        section="7.1",
        options=(
            "a little longer: the stages work one at a time, and messages come on top",
            "an eighth of the time: eight GPUs work on the batch",
            "a quarter of the time: forward and backward passes overlap in pairs",
            "half the time: one half runs forward while the other half runs backward",
        ),
        correct=0,
        derivation="Stage 1 cannot start before stage 0 has finished, and the backward pass goes through the stages "
        "one at a time as well. The work is the same as on one GPU, only in eight places. What cutting buys is memory.",
        slips={
            1: "Eight GPUs hold the model, but the batch is in only one place at a time.",
            2: "A stage's backward pass needs the gradient from the stage after it, so nothing overlaps.",
            3: "The backward pass begins with the loss, which exists only after the last stage's forward.",
        },
    ),
    Choice(
        id="07-twice-as-many",
        kind="trace",
        title="Twice as many micro-batches",
        section="7.2",
        options=(
            "it halves: as many slots are empty as before, and each is half as long",
            "it stays the same: two slots are empty, however many micro-batches there are",
            "it doubles: twice as many passes have to enter and leave the pipeline",
            "it disappears: with more micro-batches than stages, every rank stays busy",
        ),
        correct=0,
        derivation="A rank waits for $p - 1$ forward passes and $p - 1$ backward passes, whatever $m$ is. The batch is "
        "fixed, so with twice as many micro-batches each pass takes half as long.",
        slips={
            1: "The number of empty slots stays the same, but a slot is as long as the passes of one micro-batch.",
            2: "The pipeline fills once and drains once in each step, however many micro-batches follow one another.",
            3: "More micro-batches shorten the empty slots, but filling and draining never disappear.",
        },
    ),
    Choice(
        id="07-same-bits",
        kind="trace",
        title="Cut and uncut",
        section="7.5",
        options=(
            "not at all: the same numbers are added in the same order",
            "by about 1e-16: each boundary rounds every number once",
            "by about 1e-8: activations are rounded on the way to the next rank",
            "by more with every rank: each rank adds in an order of its own",
        ),
        correct=0,
        derivation="Every layer sees the same input and the same gradient as in the uncut model, and the gradients of "
        "its micro-batches are added in ascending order there and here. A message copies numbers and rounds nothing.",
        slips={
            1: "Sending a float64 copies its bits. Only arithmetic rounds.",
            2: "The activations are sent in float64, the type that they have.",
            3: "A parameter is on one rank, which adds its micro-batches in ascending order, as one process would.",
        },
    ),
    Choice(
        id="07-send-or-isend",
        kind="debug",
        title="send for isend",
        section="7.5",
        options=(
            "it hangs: each rank waits in a send for the other to receive",
            "nothing changes: either way every message is received in order",
            "it gets slower: no message travels while its sender computes",
            "the gradients get mixed up: activations and gradients cross each other",
        ),
        correct=0,
        derivation="Rank 0 sends the activation of micro-batch 1 while rank 1 sends the gradient of micro-batch 0. "
        "Neither of them receives, so neither send returns: the circle of chapter 2.",
        slips={
            1: "The order of the messages is not the problem: both ranks send at the same time, and neither receives.",
            2: "It would be slower if it finished. But rank 0 and rank 1 send to each other at the same time.",
            3: "Messages between two ranks in one direction keep their order, and the two directions do not mix.",
        },
    ),
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
        derivation="A micro-batch visits every rank once for each chunk, so there are about $v$ times as many "
        "boundaries to cross. And rank 0 runs $p$ micro-batches through each of its first $v - 1$ chunks. Then "
        "micro-batch 0 enters its last chunk, and while it visits $p - 1$ other ranks and its gradient comes back "
        "through as many, rank 0 starts $2(p-1)$ more. With that one, it holds $(v-1)p + 2(p-1) + 1$ chunks of a "
        "$v$-th of a stage: $p + (p-1)/v$ whole stages' worth instead of $p$.",
        slips={
            1: "The warm-up gets longer, not shorter: rank 0 has to start all of its chunks before it can go back.",
            2: "Chunks that are neighbors in the model are on different GPUs, so every boundary becomes a message.",
            3: "All schedules in this chapter finish a step before they update: the gradients are the same.",
        },
    ),
    Choice(
        id="07-more-experts",
        kind="trace",
        title="Twice as many experts",
        section="7.10",
        options=(
            "nothing: as many rows leave for other ranks as before",
            "they double: there are twice as many experts to send to",
            "they halve: each expert is chosen half as often",
            "they quadruple: every expert exchanges rows with every other",
        ),
        correct=0,
        derivation="Each token sends one row to each of its two experts. Seven eighths of the experts are on other "
        "ranks, whether there are 64 of them or 128, so seven eighths of the rows travel.",
        slips={
            1: "A token visits two experts, no matter how many there are to choose from.",
            2: "Each expert gets half as many rows, but a rank now has twice as many experts.",
            3: "Experts exchange nothing. Tokens travel to their experts and back.",
        },
    ),
)

ITEMS = CHOICES

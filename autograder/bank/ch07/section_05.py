"""Section 7.5, A real pipeline: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
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
        "the micro-batches are added in ascending order in both. A message copies numbers and rounds nothing.",
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
        "Neither of them receives, so neither send returns: a cycle of waits as in chapter 2.",
        slips={
            1: "The order of the messages is not the problem: both ranks send at the same time, and neither receives.",
            2: "It would be slower if it finished. But rank 0 and rank 1 send to each other at the same time.",
            3: "Messages between two ranks in one direction keep their order, and the two directions do not mix.",
        },
    ),
)

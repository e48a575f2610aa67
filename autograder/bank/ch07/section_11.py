"""Section 7.11, A mesh of ranks: its questions."""

from __future__ import annotations

from autograder.items import Order

QUESTIONS = (
    Order(
        id="07-mesh-order",
        kind="trace",
        title="Four axes, from the most exchanges to the fewest",
        section="7.11",
        steps=("TP", "CP", "PP", "DP"),
        derivation="Per micro-batch, TP needs four all-reduces in every layer, CP the keys and values of every layer "
        "and their gradients, and PP one activation and one gradient for a whole stage. DP sends once a step, while "
        "the backward pass still computes. What makes every layer wait gets the fastest links: TP is innermost, and CP "
        "usually comes next. PP and DP have no fixed order. Llama 3 puts DP outermost, whereas Megatron-LM by default "
        "and torchtitan put PP there. With TP 8 in nodes of 8 GPUs, all axes but TP cross nodes.",
    ),
)

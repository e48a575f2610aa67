"""Section 7.11, A mesh of ranks: its questions."""

from __future__ import annotations

from autograder.items import Order

QUESTIONS = (
    Order(
        id="07-mesh-order",
        kind="trace",
        title="From innermost to outermost",
        section="7.11",
        steps=("TP", "CP", "PP", "DP"),
        derivation="The axis that sends most and has to wait for its messages gets the fastest links. "
        "TP all-reduces in every layer, CP passes keys and values in every layer, PP sends one activation per "
        "micro-batch and stage, DP once a step and hidden. With TP 8 in nodes of 8 GPUs all but TP cross nodes.",
    ),
)

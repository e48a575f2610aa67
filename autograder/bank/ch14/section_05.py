"""Section 14.5, Weights on the road: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip

#: Seconds of an update of Kimi K2 on 256 H20, by broadcast: checkpoint-engine, README (2025).
SECONDS = 16.04

QUESTIONS = (
    Estimate(
        id="14-servers-guess",
        title="Sixteen times as many",
        section="14.5",
        label="time of an update on 16 engines, 256 GPUs",
        unit="s",
        answer=lambda: SECONDS,
        factor=1.3,
        scale=(1.0, 1000.0),
        landmarks=(
            Landmark(14.4, "14.4 s", "one engine, 16 GPUs"),
            Landmark(230.0, "230 s", "16 times as long"),
        ),
        slips=(
            Slip("That sends to one engine after the other. Each can pass on what has arrived.", value=229.8),
            Slip("That is a tree in which every level waits for the whole model: buckets need not.", value=57.4),
        ),
        derivation="Measured: 16.0 s, 1.12 times as long. Buckets flow through all engines at once. More engines make "
        "the way of the first bucket longer, and do not slow down those behind it.",
    ),
)

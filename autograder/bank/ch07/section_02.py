"""Section 7.2, Micro-batches: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
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
            3: "More micro-batches shorten the empty slots. But the pipeline still fills and drains.",
        },
    ),
)

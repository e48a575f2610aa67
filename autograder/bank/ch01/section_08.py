"""Section 1.8, What you can hope for: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="01-strong-or-weak",
        kind="trace",
        title="Two ways to add a rank",
        section="1.8",
        options=(
            "with the fixed batch: each rank has less to compute",
            "with the growing batch: more samples, more to exchange",
            "the same in both: the gradients have the same size",
            "only with the growing batch: less work finishes sooner",
        ),
        correct=0,
        derivation="Every rank exchanges gradients for all weights, however few samples it has seen. With a fixed "
        "batch the computing per rank shrinks and the exchange stays, so its share of the step grows.",
        slips={
            1: "The gradient has the size of the model, not of the batch: the exchange stays the same.",
            2: "They are, so the all-reduce takes as long. But it is a larger part of a step with less computing.",
            3: "It finishes sooner, but by less than the number of ranks promises: efficiency compares with that.",
        },
    ),
)

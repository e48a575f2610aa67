"""Section 7.1, Layers on ranks: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
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
)

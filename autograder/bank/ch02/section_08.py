"""Section 2.8, A model cut in stages: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="02-more-stages",
        kind="design",
        title="Eight GPUs instead of one",
        section="2.8",
        options=(
            "240 ms: the stages work one after another",
            "30 ms: each GPU computes an eighth of the layers",
            "about 150 ms: forward and backward passes overlap",
            "480 ms: every boundary is crossed twice",
        ),
        correct=0,
        derivation="One batch is in one place. A stage cannot begin before the stage before it has finished, and the "
        "backward pass cannot begin before the loss is there. All layers are still computed one after another, now on "
        "eight GPUs, each of which works an eighth of the time.",
        slips={
            1: "Each GPU does compute an eighth of the layers, but not at the same time as the others.",
            2: "With one batch the backward pass starts at the loss, when the forward pass is over everywhere.",
            3: "The boundaries are crossed twice, but here the transfers take no time.",
        },
    ),
)

"""Section 14.6, Half-written weights: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-torn",
        kind="trace",
        title="One buffer and a number",
        section="14.6",
        options=(
            "no: a copy that begins and ends while one version is being written sees the same number twice",
            "yes: if the number has not changed, nothing was written in between",
            "yes, but a slow reader may have to try again and again",
            "no: the number itself may be read half-written",
        ),
        correct=0,
        derivation="In the picture, the reader's copy begins and ends after the trainer has begun with version 8 and "
        "before it is complete. The number says 7 all the time, and the copy holds both.",
        slips={
            1: "It says that nothing was completed. A version may have been under way all the time.",
            2: "That is the price of a number which changes when writing begins and again when it ends.",
            3: "An aligned number of eight bytes is read whole. It is raised at the wrong moment.",
        },
    ),
)

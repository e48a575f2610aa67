"""Section 15.7, Crash it for real: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="cap-weights-alone",
        kind="trace",
        title="A checkpoint of weights alone",
        section="15.7",
        options=(
            "it goes on without an error, but along another curve, and sees some data again",
            "its loss jumps back to where training began, and it has to learn everything again",
            "nothing changes, because the weights are all that a model consists of",
            "it stops with an error, because Adam cannot make a step without its moments",
        ),
        correct=0,
        derivation=(
            "Think of everything else that the next step depends on. Adam's moments begin at zero, the data starts "
            "over, and the random numbers repeat. Nothing reports it, because the weights carry what was learned and "
            "the loss stays low."
        ),
        slips={
            1: "What was learned is in the weights, and they are restored.",
            2: "The model is its weights, but training also needs moments, data order and random numbers.",
            3: "A new optimizer simply starts with moments of zero. That is why nobody notices.",
        },
    ),
)

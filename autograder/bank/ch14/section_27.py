"""Section 14.27, Answers per second, and the batch: its question."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-gain-over-batch",
        kind="trace",
        title="The gain over the batch",
        section="14.27",
        bonus=True,
        options=(
            "It rises, and then falls",
            "It rises: the more there is to do, the more can overlap",
            "It falls: the fewer answers, the more GPUs wait in turn",
            "It stays: writing and training grow alike",
        ),
        correct=0,
        derivation="With few answers, reading the weights is nearly all of the time, in both ways. With many, it is "
        "hardly any of it, and work that scales gains nothing from two pools. In between, fewer GPUs read the weights "
        "for all answers while the others train.",
        slips={
            1: "Overlap alone gains nothing (14.2): with many answers the work scales.",
            2: "Without a tail nobody waits in turn. With few answers both ways read the weights, and little more.",
            3: "Training grows with the batch, and so do the caches; the reading of weights does not.",
        },
    ),
)

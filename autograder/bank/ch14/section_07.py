"""Section 14.7, In turn, or side by side: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-no-tail",
        kind="design",
        title="Two pools without a tail",
        section="14.7",
        options=(
            "Yes, by about a quarter: half of the GPUs write nearly as fast as all",
            "No: half of the GPUs take twice as long for each phase",
            "At best equally soon: nobody waits in either",
            "Yes, in half the time: writing and training overlap",
        ),
        correct=0,
        derivation="128 GPUs write in 57 s, for each copy reads its weights once for twice as many answers, and the "
        "other 128 train in 47 s meanwhile. In turn it is 50 + 24 s.",
        slips={
            1: "Training does. Of a token's time, only the reading of caches grows.",
            2: "14.2 showed that for phases which scale perfectly. Writing does not.",
            3: "Each half has fewer GPUs, so its phase takes longer.",
        },
    ),
)

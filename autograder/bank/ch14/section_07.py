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
    Choice(
        id="14-evidence",
        kind="trace",
        title="What two rows say",
        section="14.7",
        options=(
            "DeepSeek-V3 cannot have waited for all of that part behind a barrier; Qwen3's row decides nothing",
            "Both refute a barrier: two pools were faster than all GPUs in turn",
            "Both show a barrier: two pools cannot be faster than the part that does not scale",
            "Nothing: two runs in turn cannot tell what does not scale",
        ),
        correct=0,
        derivation="Behind a barrier an update takes at least as long as the longest answer. DeepSeek-V3's took 0.73 "
        "times the part that does not scale: so not all of it was waiting for an answer. Qwen3's took 1.01 times it, "
        "as a barrier would have it, and as other causes would, too.",
        slips={
            1: "Pools with a barrier may be faster than turns: training no longer comes after the longest answer.",
            2: "One was: 64 s is less than 88 s.",
            3: "They tell its size. They do not tell its cause, the longest answer or the reading of weights.",
        },
    ),
)

"""Section 10.2, A budget instead of phases: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-partial-vllm",
        kind="trace",
        title="Three prompts in chunks",
        section="10.2",
        options=("[1, 1, 352]", "[1, 1, 400]", "[400, 400, 224]", "[400, 224, 400]"),
        correct=0,
        derivation="Steps 1 and 2 give 400, 400 and what is left of 1,024. Then the first two prompts are "
        "computed and decode; the third misses $800 - 2 \\cdot 224$ tokens.",
        slips={
            1: "The third prompt misses fewer tokens than the cap allows.",
            2: "The first two prompts are whole after two steps.",
            3: "The order is that of admission, and two prompts are whole by then.",
        },
    ),
)

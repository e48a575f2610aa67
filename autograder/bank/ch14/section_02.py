"""Section 14.2, Where, and when: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-never",
        kind="trace",
        title="Can two pools win",
        section="14.2",
        options=(
            "No",
            "Yes, because generation and training overlap",
            "Yes, with enough GPUs",
            "Yes, if generation takes as long as training",
        ),
        correct=0,
        derivation="Both pools together do $W_g + W_t$ of work in the time of an iteration, on $N$ GPUs: none does it "
        "in less than $(W_g + W_t)/N$, which is what all GPUs need in turn. What lets two pools win is what does not "
        "scale: the longest response, and the weights that are read for every token.",
        slips={
            1: "While they overlap, each has only some of the GPUs.",
            2: "With perfect scaling their number divides both sides.",
            3: "Then both are equally fast at best.",
        },
    ),
)

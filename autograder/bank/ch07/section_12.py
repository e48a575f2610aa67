"""Section 7.12, Choose a layout: its question on the advisor; the designs have a module of their own."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="07-advisor-worst",
        kind="debug",
        title="Where the advisor is wrong",
        section="7.12",
        options=(
            "ZeRO-3 alone: the advisor hides the gathering behind the computing",
            "the deepest pipelines, of 35 stages: the idle time is the hardest to predict",
            "the largest runs, on more than 10,000 GPUs: some GPU is always slow there",
            "the A100s: the advisor was made for H100s",
        ),
        correct=0,
        derivation="A pipeline's schedule is known, and a simulator confirms the formula for its idle time. In the "
        "advisor's model, computation takes most of each of these steps, and it scales with the peak of the GPU. But "
        "whether gathering is hidden is up to software: when it starts, in what pieces it is sent, and what else uses "
        "the network.",
        slips={
            1: "Idle time is the easiest part: a schedule says exactly who waits for whom.",
            2: "Slow GPUs cost something, but with stages the advisor is within a fifth even on 16,384 of them.",
            3: "Peak, memory and bandwidths are inputs: the advisor takes those of an A100.",
        },
    ),
)

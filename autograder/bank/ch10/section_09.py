"""Section 10.9, The loop around it: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip

QUESTIONS = (
    Choice(
        id="10-faster-gpu",
        kind="design",
        title="A faster GPU?",
        section="10.9",
        options=(
            "nothing: a step still takes 7 ms",
            "a step takes 2.5 ms",
            "a step takes 9.5 ms instead of 12",
            "a step takes 4.5 ms",
        ),
        correct=0,
        derivation="Overlapped, a step takes $\\max(c, s + p)$, and the CPU's 7 ms are more than 5 already.",
        slips={
            1: "The CPU is the slower side: it still needs 7 ms for every step.",
            2: "That is the loop in turn, without overlap.",
            3: "The CPU does both of its jobs one after the other, 7 ms.",
        },
    ),
    Question(
        id="10-wasted-eos",
        kind="derive",
        title="One token too many",
        section="10.9",
        ask="wasted share of the sampled tokens",
        unit="",
        answer=lambda: 1 / 301,
        tolerance=0.02,
        slips=(Slip("The CPU learns of the end one step late, when the next step runs already.", value=0),),
        derivation="Each request runs one step more than it needs: one token wasted of $300 + 1$ sampled.",
    ),
)

"""Section 10.12, Chunks in numbers: its questions."""

from __future__ import annotations

from math import ceil

from autograder.bank.ch10.quantities import FULL, prefill
from autograder.items import Part, Question, Slip

QUESTIONS = (
    Question(
        id="10-stall",
        kind="derive",
        title="How long everyone waits",
        section="10.12",
        bonus=True,
        parts=(
            Part(
                "the prompt in one step",
                "s",
                lambda: prefill(4000),
                tolerance=0.02,
                slips=(
                    Slip("That leaves attention out: $2 L d s^2$.", value=lambda: prefill(4000, False)),
                    Slip(FULL, value=lambda: 2 * prefill(4000) - prefill(4000, False)),
                ),
            ),
            Part(
                "a step of 512 + 32 tokens",
                "s",
                lambda: prefill(512 + 32, False),
                tolerance=0.02,
                slips=(Slip("The 32 decode tokens are computed too.", value=lambda: prefill(512, False)),),
            ),
        ),
        derivation="Compute-bound both times: $(2 N s + 2 L d s^2)/F$ for the prompt, $2 N s/F$ for the step.",
    ),
    Question(
        id="10-chunks",
        kind="derive",
        title="A long prompt in chunks",
        section="10.12",
        bonus=True,
        ask="steps until its first token",
        unit="steps",
        answer=lambda: ceil(4000 / (512 - 1)),
        tolerance=0,
        slips=(
            Slip("Seven steps compute 7 x 511 tokens, which is less than the prompt.", value=7),
            Slip("The budget of one step is 512 tokens.", value=1),
            Slip("The step that ends the prompt yields the first token: there is none to add.", value=9),
        ),
        derivation="The stream takes one token of every step and leaves 511: $\\lceil 4000/511 \\rceil$. The step that "
        "ends the prompt yields the first token.",
    ),
)

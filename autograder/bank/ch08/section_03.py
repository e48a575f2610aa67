"""Section 8.3, Prefill and decode: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip

QUESTIONS = (
    Question(
        id="08-decode-steps",
        kind="derive",
        title="Steps after prefill",
        section="8.3",
        ask="decode steps",
        unit="steps",
        answer=lambda: 50 - 1,
        tolerance=0.0,
        slips=(
            Slip("Prefill already gave the first token.", value=50),
            Slip("No step is needed for an end that never comes.", value=51),
        ),
        derivation="The logits of the prompt's last token give output token 1. Each further token takes one step.",
    ),
)

"""Section 8.2, The prompt at once, the answer token by token: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip

QUESTIONS = (
    Question(
        id="08-decode-steps",
        kind="derive",
        title="Passes after the first",
        section="8.2",
        ask="passes with one token",
        unit="passes",
        answer=lambda: 50 - 1,
        tolerance=0.0,
        slips=(
            Slip("The pass over the prompt already gave the first token.", value=50),
            Slip("No pass is needed for an end that never comes.", value=51),
        ),
        derivation="The logits of the prompt's last token give output token 1. Each further token takes one pass.",
    ),
)

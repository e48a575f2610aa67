"""Section 8.9, Streaming text from tokens: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="08-split-emoji",
        kind="trace",
        title="Half an emoji",
        section="8.9",
        options=("nothing", "U+FFFD, the replacement character", "the two bytes as they are"),
        correct=0,
        derivation="Two bytes of four are no character yet, and may become one.",
        slips={
            1: "The next token completes the character; what was sent cannot be taken back.",
            2: "The answer is text in JSON: half a character cannot stand there.",
        },
    ),
)

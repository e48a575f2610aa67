"""Section 14.6, Half-written weights: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="14-torn",
        kind="trace",
        title="One buffer, two processes",
        section="14.6",
        options=(
            "the old version, the new one, or parts of both in one tensor",
            "the old version or the new one",
            "only the new version",
            "only the old version, until the writer has finished",
        ),
        correct=0,
        derivation="A copy of megabytes takes a while, and nothing stops the other side meanwhile. The reader's front "
        "has passed some places before the writer's, and others after it.",
        slips={
            1: "Then a copy of the whole buffer would be a single step. It is millions of steps, in both processes.",
            2: "Nothing makes the reader wait until the writer has finished.",
            3: "There is one buffer: what is written is there at once.",
        },
    ),
)

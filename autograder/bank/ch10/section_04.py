"""Section 10.4, Out of blocks: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="10-victim",
        kind="trace",
        title="Who is preempted",
        section="10.4",
        options=("z", "y", "x", "nobody: y waits"),
        correct=0,
        derivation="The request that was admitted last. Those before it came first, and as a rule have more to "
        "compute again.",
        slips={
            1: "z came after y.",
            2: "x was admitted first, so it would be the last to go.",
            3: "If those who need blocks waited for others, and these for blocks too, nobody would ever go on.",
        },
    ),
)

"""Section 8.6, What the user feels: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="08-itl-p99",
        kind="trace",
        title="A stall between two tokens",
        section="8.6",
        options=("the 99th percentile of ITL", "TTFT", "TPOT", "throughput"),
        correct=0,
        derivation="With four gaps an answer, one gap in twenty is long: the 99th percentile is one of these. A mean "
        "spreads a long gap over all of them.",
        slips={
            1: "TTFT ends with the first token; the stall comes later.",
            2: "TPOT is the mean gap: it averages the stall away.",
            3: "Throughput counts tokens of all users; one user's stall is invisible in it.",
        },
    ),
)

"""Section 8.5, What the user feels: its questions."""

from __future__ import annotations

from autograder.items import Choice, Question, Slip

QUESTIONS = (
    Question(
        id="08-e2e",
        kind="derive",
        title="End to end",
        section="8.5",
        ask="end-to-end latency",
        unit="s",
        answer=lambda: 0.3 + 199 * 0.025,
        tolerance=0.001,
        slips=(
            Slip("200 tokens have 199 gaps.", value=lambda: 0.3 + 200 * 0.025),
            Slip("The user waits for the first token, too.", value=lambda: 200 * 0.025),
            Slip("The user waits for the first token, too.", value=lambda: 199 * 0.025),
        ),
        derivation="$\\mathrm{TTFT} + (n - 1) \\cdot \\mathrm{TPOT}$ with $n = 200$.",
    ),
    Choice(
        id="08-itl-p99",
        kind="trace",
        title="A stall between two tokens",
        section="8.5",
        options=("the 99th percentile of ITL", "TTFT", "TPOT", "throughput"),
        correct=0,
        derivation="A percentile near the maximum keeps the one long gap; a mean spreads it over all of them.",
        slips={
            1: "TTFT ends with the first token; the stall comes later.",
            2: "TPOT is the mean gap: it averages the stall away.",
            3: "Throughput counts tokens of all users; one user's stall is invisible in it.",
        },
    ),
)

"""Section 8.15, One request in numbers: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip

QUESTIONS = (
    Question(
        id="08-e2e",
        kind="derive",
        title="End to end",
        section="8.15",
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
        bonus=True,
    ),
)

"""Section 12.15, Ends that are none: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip

QUESTIONS = (
    Question(
        id="12-td",
        kind="derive",
        title="One TD error",
        section="12.15",
        bonus=True,
        ask="delta",
        unit="reward",
        answer=lambda: 0.1 + 0.99 * 0.4 - 0.5,
        tolerance=1e-6,
        slips=(
            Slip("V(s) is what was expected: it has to be subtracted.", value=0.496),
            Slip("V(s') is one step away: it is discounted.", value=0),
            Slip("The sign is turned: what came, less what was expected.", value=0.004),
        ),
        derivation="$\\delta = r + \\gamma V(s') - V(s)$ with 0.1, 0.99, 0.4 and 0.5.",
    ),
)

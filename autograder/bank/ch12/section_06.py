"""Section 12.6, Actor and critic: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip

QUESTIONS = (
    Question(
        id="12-cutoff",
        kind="derive",
        title="The step at the limit",
        section="12.6",
        parts=(
            Part(
                "treated as an end",
                "reward",
                lambda: 1.0 - 50,
                tolerance=1e-6,
                slips=(
                    Slip("The reward of the step is missing.", value=-50),
                    Slip("That is the right value of the error: at an end nothing follows.", value=0),
                ),
            ),
            Part(
                "right",
                "reward",
                lambda: 1 + 0.98 * 50 - 50,
                tolerance=1e-6,
                slips=(
                    Slip("The value of the state that was reached is discounted.", value=1),
                    Slip("The reward of the step is missing.", value=-1),
                    Slip("The pole still stands: the state that was reached has a value.", value=-49),
                ),
            ),
        ),
        derivation="$\\delta = 1 + 0.98\\, V(s') - 50$, with $V(s') = 0$ if the world ended and 50 if we "
        "stopped looking.",
    ),
)

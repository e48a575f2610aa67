"""Section 12.5, How far to trust the critic: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="12-critic-error",
        kind="trace",
        title="An error at the last state",
        section="12.5",
        options=("with 0.5", "with 0", "with 1", "with all three alike"),
        correct=0,
        derivation="The error raises $\\delta_2$ by 1, since $V(s_3)$ is what step 2 reached, and lowers "
        "$\\delta_3$ by 1. In $A_1$ they count $\\lambda$ and $\\lambda^2$ (with $\\gamma = 1$): together "
        "$\\lambda - \\lambda^2$.",
        slips={
            1: "With 0 the first advantage is $\\delta_1$ alone, and the last state has no part in it.",
            2: "With 1 every value but the first cancels: what the error adds to one TD error it takes from the next.",
            3: "The error enters two TD errors with opposite signs, and $\\lambda$ decides how much of it cancels.",
        },
    ),
)

"""Section 7.3, Idle time, two numbers: its questions."""

from __future__ import annotations

from autograder.bank.ch07.quantities import overhead, share
from autograder.items import Part, Question, Slip

QUESTIONS = (
    Question(
        id="07-two-bubbles",
        kind="derive",
        title="One idle time, two numbers",
        section="7.3",
        parts=(
            Part(
                "idle over total",
                "%",
                share(4, 12),
                slips=(Slip("That is idle over useful time.", value=overhead(4, 12)),),
            ),
            Part(
                "idle over useful",
                "%",
                overhead(4, 12),
                slips=(Slip("That is idle over total time.", value=share(4, 12)),),
            ),
        ),
        derivation="A slot is one forward and one backward. Each rank has $m$ useful slots and $p - 1$ empty ones: "
        "$\\frac{p-1}{m+p-1}$ of the total, $\\frac{p-1}{m}$ of the useful time, with $p = 4$ and $m = 12$.",
    ),
)

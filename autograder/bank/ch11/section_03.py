"""Section 11.3, When the target rolls dice: its questions."""

from __future__ import annotations

from autograder.bank.ch11.quantities import P, Q
from autograder.items import Choice, Part, Question, Slip, lazily

speculative = lazily("solutions.ch11.speculative")


def _residual(token: int) -> float:
    return speculative.residual_distribution(P, Q)[token]


QUESTIONS = (
    Choice(
        id="11-wrong-residual",
        kind="trace",
        title="Redrawn from all words",
        section="11.3",
        options=(
            "The drafted word comes too often.",
            "The drafted word comes too seldom.",
            "The most probable word comes too often.",
            "None: the target decides every word.",
        ),
        correct=0,
        derivation="The draft has already given the drafted word its whole probability. Whatever a second draw adds "
        "to it is too much, and the other words lack as much.",
        slips={
            1: "It is kept as often as the target would write it, and the second draw adds to that.",
            2: "Every word but the drafted one gets less than its share, the most probable one, too.",
            3: "The target's distribution is used twice: once in the verdict, and once more in the second draw.",
        },
    ),
    Question(
        id="11-alpha",
        kind="derive",
        title="Acceptance and residual",
        section="11.3",
        parts=(
            Part(
                "acceptance",
                "probability",
                lambda: speculative.acceptance_probability(P, Q),
                tolerance=0.005,
                slips=(
                    Slip("That is how likely two independent draws are equal.", value=0.25),
                    Slip("That is how likely the token is rejected.", value=0.3),
                ),
            ),
            Part(
                "residual of token 0",
                "probability",
                lambda: _residual(0),
                tolerance=0.005,
                slips=(
                    Slip("That is p: only what the draft leaves missing is redrawn.", value=0.5),
                    Slip("Divide by the sum of what is missing.", value=0.25),
                ),
            ),
            Part(
                "residual of token 1",
                "probability",
                lambda: _residual(1),
                tolerance=0.005,
                slips=(
                    Slip("That is p: only what the draft leaves missing is redrawn.", value=0.3),
                    Slip("Divide by the sum of what is missing.", value=0.05),
                ),
            ),
        ),
        derivation="$\\alpha = \\sum_x \\min(p(x), q(x))$. What is missing is $\\max(0, p - q)$: a quarter at token 0 "
        "and a twentieth at token 1, to be divided by their sum.",
    ),
)

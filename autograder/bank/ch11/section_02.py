"""Section 11.2, Draft, verify, correct: its questions."""

from __future__ import annotations

from autograder.bank.ch11.quantities import P, Q
from autograder.items import Part, Question, Slip, lazily

speculative = lazily("solutions.ch11.speculative")

#: A target's row that rejects token 0.
NOT_0 = (0.0, 0.5, 0.5, 0.0)


def _residual(token: int) -> float:
    return speculative.residual_distribution(P, Q)[token]


QUESTIONS = (
    Question(
        id="11-three-of-five",
        kind="trace",
        title="Five drafted, the fourth rejected",
        section="11.2",
        parts=(
            Part(
                "tokens",
                "tokens",
                lambda: len(speculative.speculative_step([0] * 5, [Q] * 5, [*[P] * 3, NOT_0, P, P], [0.5] * 6)),
                tolerance=0,
                slips=(
                    Slip("The correction is a token, too.", value=3),
                    Slip("What was drafted after the rejected token is dropped.", value=5),
                ),
            ),
            Part(
                "draft passes",
                "passes",
                lambda: 5,
                tolerance=0,
                slips=(
                    Slip("Each drafted token needs the one before it: a pass each.", value=1),
                    Slip("The fifth was drafted, too: the verdict comes after the drafts.", value=4),
                ),
            ),
            Part(
                "target passes",
                "passes",
                lambda: 1,
                tolerance=0,
                slips=(Slip("One pass scores all positions at once.", value=5),),
            ),
        ),
        derivation="Three drafts are kept, the residual of the fourth gives one token, the fifth is dropped. The draft "
        "model ran for every token, the target once.",
    ),
    Question(
        id="11-alpha",
        kind="derive",
        title="Acceptance and residual",
        section="11.2",
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

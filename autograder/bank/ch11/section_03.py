"""Section 11.3, Why it is exact: its questions."""

from __future__ import annotations

from functools import partial

from autograder.bank.ch11.quantities import P, Q
from autograder.items import Part, Question, Slip, lazily

speculative = lazily("solutions.ch11.speculative")


def _kept(token: int) -> float:
    """The distribution of a token that is redrawn from p when it is rejected."""
    alpha = speculative.acceptance_probability(P, Q)
    return min(P[token], Q[token]) + (1 - alpha) * P[token]


def _distance() -> float:
    return sum(abs(P[token] - _kept(token)) for token in range(4)) / 2


QUESTIONS = (
    Question(
        id="11-wrong-residual",
        kind="derive",
        title="Redrawn from p",
        section="11.3",
        parts=(
            *(
                Part(
                    f"token {token}",
                    "probability",
                    partial(_kept, token),
                    slips=(
                        Slip("That is p, and would be right: but p was already served by the drafts.", value=P[token]),
                    ),
                )
                for token in range(3)
            ),
            Part(
                "total variation from p",
                "probability",
                _distance,
                slips=(
                    Slip("The tokens are not distributed as p any more.", value=0),
                    Slip("Half of the summed difference.", value=lambda: 2 * _distance()),
                ),
            ),
        ),
        derivation="A token comes out of a draft that is accepted, $\\min(p, q)$, or of a replacement, $(1 - "
        "\\alpha)\\,p$. Total variation is half the sum of all differences from $p$.",
    ),
)

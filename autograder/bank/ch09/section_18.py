"""Section 9.18, Sharing in numbers: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import MB, MiB

kv = lazily("solutions.ch09.kv_cache")

#: Bytes of a token of Llama 3 70B.
TOKEN = 327_680


def _saved_of_three(copies: int = 2) -> float:
    """The share saved when prompts of 100, 120 and 90 tokens have 7 in common."""
    return copies * 7 / (100 + 120 + 90)


QUESTIONS = (
    Question(
        id="09-sharing-3",
        kind="derive",
        title="Three prompts share seven tokens",
        section="9.18",
        parts=(
            Part(
                "saved share",
                "",
                _saved_of_three,
                slips=(
                    Slip("One copy stays: two of the three are saved.", value=lambda: _saved_of_three(3)),
                    Slip("Two copies are saved, not one.", value=lambda: _saved_of_three(1)),
                    Slip("The share is of the tokens without sharing.", value=14 / (310 - 14)),
                ),
            ),
            Part(
                "saved memory",
                "MB",
                lambda: 2 * 7 * TOKEN / MB,
                slips=(
                    Slip("One copy stays: two of the three are saved.", value=lambda: 3 * 7 * TOKEN / MB),
                    Slip("Two copies are saved, not one.", value=lambda: 7 * TOKEN / MB),
                    Slip("That is in MiB: a MB is 1e6 bytes.", value=lambda: 2 * 7 * TOKEN / MiB),
                ),
            ),
        ),
        derivation="Of three copies of 7 tokens, one stays. The share is of all tokens of the three prompts.",
        bonus=True,
    ),
    Question(
        id="09-sharing-limit",
        kind="derive",
        title="More and more requests",
        section="9.18",
        parts=(
            Part(
                "100 requests",
                "",
                lambda: kv.prefix_sharing_saving(100, 500, 100),
                tolerance=0.005,
                slips=(
                    Slip("One copy of the prefix stays.", value=500 / 600),
                    Slip("The 100 tokens of each request are its own.", value=0.99),
                ),
            ),
            Part(
                "in the limit",
                "",
                lambda: 500 / 600,
                tolerance=0.005,
                slips=(Slip("The unique part stays, however many requests come.", value=1.0),),
            ),
        ),
        derivation="$(r - 1) p / (r (p + u))$ with $p = 500$ and $u = 100$; for large $r$ it tends to $p / (p + u)$.",
        bonus=True,
    ),
    Question(
        id="09-few-shot",
        kind="derive",
        title="Five examples in front",
        section="9.18",
        ask="saved share",
        unit="",
        answer=lambda: kv.prefix_sharing_saving(100, 1000, 50),
        tolerance=0.005,
        slips=(
            Slip("The 50 tokens of each request are its own.", value=0.99),
            Slip("One copy of the examples stays.", value=1000 / 1050),
        ),
        derivation="$(r - 1) p / (r (p + u))$ with $p = 5 \\cdot 200$, $u = 50$ and $r = 100$.",
        bonus=True,
    ),
)

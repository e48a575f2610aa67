"""Section 1.11, Places, exactly: its questions."""

from __future__ import annotations

from autograder.bank.ch01.quantities import LAYOUT
from autograder.items import Question, Slip, lazily

ranks = lazily("solutions.ch01.ranks")


def _groups(axis: str) -> list[list[int]]:
    return ranks.process_groups(LAYOUT, axis)


QUESTIONS = (
    Question(
        id="01-group-count",
        kind="derive",
        title="Pipeline groups of 8,192 ranks",
        section="1.11",
        bonus=True,
        ask="pipeline groups",
        unit="groups",
        answer=lambda: len(_groups("pp")),
        tolerance=0,
        slips=(
            Slip("That is how many ranks are in one of them.", value=lambda: len(_groups("pp")[0])),
            Slip("Those are the tensor groups.", value=lambda: len(_groups("tp"))),
            Slip("Those are the data groups.", value=lambda: len(_groups("dp"))),
        ),
        derivation="There is one pipeline group for every choice of the other positions: $64 \\cdot 8$. Together they "
        "hold all ranks, 16 in each.",
    ),
)

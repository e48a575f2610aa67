"""Section 1.11, Places, exactly: its questions."""

from __future__ import annotations

from autograder.bank.ch01.quantities import LAYOUT
from autograder.items import Choice, Question, Slip, lazily

ranks = lazily("solutions.ch01.ranks")

SWAPPED = {"pp": 16, "dp": 64, "tp": 8}


def _groups(axis: str) -> list[list[int]]:
    return ranks.process_groups(LAYOUT, axis)


QUESTIONS = (
    Question(
        id="01-coordinates-405b",
        kind="trace",
        title="Where rank 5000 is",
        section="1.11",
        bonus=True,
        ask="data-parallel index",
        unit="",
        answer=lambda: ranks.coordinates(5000, LAYOUT)["dp"],
        tolerance=0,
        slips=(
            Slip(
                "dp and pp are swapped: dp is the slowest axis.",
                value=lambda: ranks.coordinates(5000, SWAPPED)["dp"],
            ),
            Slip("Divide by the stride of dp, not by its size.", value=lambda: 5000 // 64),
        ),
        derivation="The stride of the slowest axis is the product of the sizes of the others, $16 \\cdot 8$. So the "
        "index is $\\lfloor 5000 / (16 \\cdot 8) \\rfloor$.",
    ),
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
    Choice(
        id="01-tp-in-node",
        kind="design",
        title="An order for nodes of eight",
        section="1.11",
        bonus=True,
        options=(
            "dp, pp, tp",
            "pp, dp, tp",
            "dp, tp, pp",
            "pp, tp, dp",
        ),
        correct=0,
        derivation="The last axis has stride 1: with tp there, and 8 ranks on a node, a tensor group is a node. "
        "The axis before it has stride 8, one node further: with pp there, both stages are on neighboring nodes. The "
        "first axis has the largest stride, and dp, which communicates once a step, can best afford the distance.",
        slips={
            1: "No tensor group leaves its node, but pp has stride 32: its two stages are four nodes apart.",
            2: "tp has stride 2 there: every tensor group spans 2 nodes.",
            3: "tp has stride 4 there: every tensor group spans 4 nodes.",
        },
    ),
)

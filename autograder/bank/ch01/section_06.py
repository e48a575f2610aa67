"""Section 1.6, Groups as coordinates: its questions."""

from __future__ import annotations

from autograder.bank.ch01.quantities import LAYOUT
from autograder.items import Choice, Question, Slip, lazily

ranks = lazily("solutions.ch01.ranks")

SWAPPED = {"pp": 16, "dp": 64, "tp": 8}


QUESTIONS = (
    Question(
        id="01-coordinates-405b",
        kind="trace",
        title="Where rank 5000 is",
        section="1.6",
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
    Choice(
        id="01-tp-in-node",
        kind="design",
        title="An order for nodes of eight",
        section="1.6",
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
    Choice(
        id="01-own-groups-only",
        kind="debug",
        title="Each rank makes its own groups",
        section="1.6",
        options=(
            "it differs from run to run: a hang, or wrong sums",
            "the same sums as before, with half as many calls",
            "an error on every rank: the calls do not match",
            "a hang in every run: all ranks wait in new_group",
        ),
        correct=0,
        derivation="Each process counts the groups it has made, and members meet by that count. Rank 0's first "
        "group is [0, 2] and rank 1's first group is [1, 3]. Both are number 1, so ranks meet that do not belong "
        "together. Whether they hang or add up wrong numbers depends on who arrives first.",
        slips={
            1: "With fewer calls the counts differ from rank to rank, and two groups get the same number.",
            2: "Nobody compares the calls, and that is the trouble: a wrong meeting looks like a right one.",
            3: "That happens in some runs. In others all ranks finish, with wrong sums.",
        },
    ),
)

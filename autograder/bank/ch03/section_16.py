"""Section 3.16, All-to-all: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily

cost = lazily("solutions.ch03.collective_cost")


QUESTIONS = (
    Question(
        id="03-expert-tokens",
        kind="derive",
        title="Tokens on their way to experts",
        section="3.16",
        bonus=True,
        ask="sent by each rank",
        unit="bytes",
        answer=lambda: cost.traffic("all_to_all", 8192 * 4096 * 2, 8, 0)[0],
        slips=(
            Slip("A rank keeps the block that is for itself.", value=67_108_864),
            Slip("That is one block. A rank sends seven: almost everything leaves.", value=8_388_608),
        ),
        derivation="A rank's buffer holds $8192 \\cdot 4096 \\cdot 2$ bytes, one block in $N = 8$ of it for the rank "
        "itself. The others leave: $\\frac{N-1}{N}\\,S$.",
    ),
)

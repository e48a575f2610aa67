"""Section 3.2, Eight operations: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="03-scattered-sum",
        kind="trace",
        title="Three ranks, one reduce-scatter",
        section="3.2",
        options=(
            "222, the sum of the middle numbers of all ranks",
            "60, the sum of its own three numbers",
            "111, 222 and 333, the three sums",
            "2, 20 and 200, the middle numbers of all ranks",
        ),
        correct=0,
        derivation="Each rank contributes three blocks. Block $r$ of every rank is added up, and rank $r$ keeps that "
        "one sum: $2 + 20 + 200$ for rank 1.",
        slips={
            1: "No rank would have to send anything for that. The sum runs over the ranks, block by block.",
            2: "That is an all-reduce. A reduce-scatter leaves each rank with one of the sums.",
            3: "That is an all-to-all: the blocks have arrived, and nobody has added them.",
        },
    ),
)

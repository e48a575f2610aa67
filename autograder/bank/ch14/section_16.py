"""Section 14.16, Plans that ranks execute: its questions."""

from __future__ import annotations

from autograder.items import Choice, Part, Question, Slip, lazily

sync = lazily("solutions.ch14.weight_sync")

#: A matrix of 8192 x 8192 in bf16, bytes.
MATRIX = 2 * 8192**2


def _worst(order: str) -> float:
    """Most bytes that a rank receives when eight row shards become four slices in two copies, MB."""
    shape = (8192, 8192)
    plan = sync.reshard_plan(sync.row_shards(shape, 8), sync.shard_boxes(shape, f"rows4{order}2"))
    return max(2 * sync.received(plan, rank) for rank in range(8)) / 1e6


QUESTIONS = (
    Choice(
        id="14-ceil",
        kind="trace",
        title="Ten rows over four ranks",
        section="14.16",
        bonus=True,
        options=("3, 3, 3, 1", "3, 3, 2, 2", "2, 2, 2, 4", "3, 2, 3, 2"),
        correct=0,
        derivation="A shard has $\\lceil 10/4 \\rceil$ rows, and the last one what is left. With five rows over four "
        "ranks the last rank has none.",
        slips={
            1: "That is how `tensor_split` cuts; shards have the rounded-up size as long as there are rows.",
            2: "The size is rounded up, not down.",
            3: "Shards are equal as long as there are rows; only the last ones have fewer.",
        },
    ),
    Question(
        id="14-assignment",
        kind="derive",
        title="Two ways to deal slices",
        section="14.16",
        bonus=True,
        parts=(
            Part(
                "slice r mod 4",
                "MB",
                lambda: _worst("x"),
                tolerance=0.005,
                slips=(
                    Slip("That is the other way, in which each rank keeps its shard.", value=lambda: _worst(":")),
                    Slip("A rank wants a quarter of the matrix, not all of it.", value=lambda: MATRIX / 1e6),
                    Slip(
                        "The worst rank has nothing of its slice.", value=lambda: MATRIX / 1e6 / 4 - MATRIX / 1e6 / 16
                    ),
                ),
            ),
            Part(
                "slice r div 2",
                "MB",
                lambda: _worst(":"),
                tolerance=0.005,
                slips=(
                    Slip("Half of the new slice is there already: ranks 0 and 1 hold it.", value=lambda: _worst("x")),
                    Slip("A rank keeps one half of its slice and needs the other.", value=0),
                ),
            ),
        ),
        derivation="A shard is an eighth of the matrix, a slice a quarter. Slice 3 holds the rows of ranks 6 and 7: "
        "with r mod 4 rank 3 gets it and has nothing of it. With r div 2 rank r gets the slice around its own shard "
        "and lacks the other half.",
    ),
)

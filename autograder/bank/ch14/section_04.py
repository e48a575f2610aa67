"""Section 14.4, The same weights, cut differently: its questions."""

from __future__ import annotations

from autograder.bank.ch14.quantities import MODEL
from autograder.items import Choice, Part, Question, Slip, lazily
from rankzero.facts.units import GB

sync = lazily("solutions.ch14.weight_sync")

#: A matrix of 8192 x 8192 in bf16, bytes.
MATRIX = 2 * 8192**2


def _transition(engine: str, replicas: int = 1, parts: int = 8, slices: int = 2):
    return sync.transition_cost(MODEL, parts, 1, replicas, slices, 1, engine)


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
        section="14.4",
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
        section="14.4",
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
    Question(
        id="14-mode-switch",
        kind="derive",
        title="From eight slices to two",
        section="14.4",
        ask="received",
        unit="GB",
        answer=lambda: _transition("nested").received / GB,
        tolerance=0.005,
        slips=(
            Slip("The layouts differ: a rank holds an eighth and needs a half.", value=0),
            Slip("That counts the eighth that the rank has already.", value=lambda: MODEL / 2 / GB),
            Slip("That is a full gather: a half of the model is enough.", value=lambda: MODEL * 7 / 8 / GB),
        ),
        derivation="A rank needs $M/2$ and holds $M/8$ of that: it receives $(8-2)/(8 \\cdot 2)\\,M$.",
    ),
    Question(
        id="14-hybrid-saving",
        kind="derive",
        title="A full gather beside nested slices",
        section="14.4",
        ask="ratio",
        unit="times",
        answer=lambda: _transition("zero3", 2).received / _transition("nested").received,
        slips=(
            Slip(
                "Both leave out what the rank has already.",
                value=lambda: MODEL / _transition("nested").received,
            ),
            Slip("That compares what is held, not what is received.", value=2),
            Slip(
                "ZeRO-3 gathers from 16 ranks, not from 8.",
                value=lambda: _transition("gather").received / _transition("nested").received,
            ),
        ),
        derivation="ZeRO-3 receives $15/16\\,M$. Nested slices receive $(8-2)/(8 \\cdot 2)\\,M$.",
    ),
)

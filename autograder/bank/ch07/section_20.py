"""Section 7.20, Boundaries and balance: its questions."""

from __future__ import annotations

from autograder.items import Question, Slip, lazily
from rankzero.facts.units import GB, ms

pipeline = lazily("solutions.ch07.pipeline")


def _all_sent(chunks: int) -> float:
    """Bytes that all ranks send in a step, in GB."""
    return sum(pipeline.pipeline_bytes_sent(rank, 4, 12, 0.5 * GB, chunks) for rank in range(4)) / GB


def _send_time(rank: int, chunks: int = 4, scale: float = 1.0) -> float:
    """How long a rank sends, in ms. The ranks in the middle, as rank 1, are the busiest."""
    return scale * pipeline.pipeline_bytes_sent(rank, 4, 12, 0.5 * GB, chunks) / (450 * GB) / ms


def makespan(name: str, ranks: int, microbatches: int, durations: dict[str, float], hop: float = 0.0) -> float:
    """When the last operation ends."""
    orders = pipeline.pipeline_schedule(name, ranks, microbatches)
    return max(end for _, end in pipeline.simulate_schedule(orders, durations, hop).values())


QUESTIONS = (
    Question(
        id="07-p2p-total",
        kind="derive",
        title="Bytes between stages",
        section="7.20",
        bonus=True,
        ask="sent by all ranks",
        unit="GB",
        answer=lambda: _all_sent(4),
        slips=(
            Slip("The chunks were ignored: they are 16 stages, with 15 boundaries.", value=lambda: _all_sent(1)),
            Slip("That is one way: gradients come back.", value=lambda: _all_sent(4) / 2),
            Slip("16 stages in a row have 15 boundaries.", value=192),
        ),
        derivation="$2\\,(p v - 1)\\,m A$: each of the $p v - 1$ boundaries is crossed by $m$ activations and $m$ "
        "gradients, with $p = 4$, $v = 4$, $m = 12$ and $A = 0.5$ GB.",
    ),
    Question(
        id="07-p2p-time",
        kind="derive",
        title="The busiest rank's messages",
        section="7.20",
        bonus=True,
        ask="send time",
        unit="ms",
        answer=lambda: _send_time(1),
        slips=(
            Slip(
                "That sends all ranks' bytes through one link: each rank has its own.",
                value=lambda: _all_sent(4) * GB / (450 * GB) / ms,
            ),
            Slip(
                "450 GB/s is one direction, and that is what a rank sends over.",
                value=lambda: _send_time(1, scale=0.5),
            ),
            Slip(
                "That is the first or the last rank: the others send one message more for each micro-batch.",
                value=lambda: _send_time(0),
            ),
            Slip("The chunks were ignored: a rank sends for each of its four.", value=lambda: _send_time(1, 1)),
        ),
        derivation="A rank in the middle sends $2 v m A$ over its own link of 450 GB/s, with $v = 4$, $m = 12$ and "
        "$A = 0.5$ GB.",
    ),
    Question(
        id="07-slow-stage",
        kind="derive",
        title="One slow stage",
        section="7.20",
        bonus=True,
        ask="makespan",
        unit="units of time",
        answer=lambda: makespan("1f1b", 4, 8, {"F": 1.0, "B": 2.0, "3F": 1.23, "3B": 2.46}),
        tolerance=0.001,
        slips=(
            Slip("That makes all stages slow.", value=lambda: 1.23 * makespan("1f1b", 4, 8, {"F": 1.0, "B": 2.0})),
            Slip("That is without the slow stage.", value=lambda: makespan("1f1b", 4, 8, {"F": 1.0, "B": 2.0})),
            Slip(
                "That counts the slow stage's work, and not how it is reached and left.",
                value=lambda: 8 * 3 * 1.23,
            ),
        ),
        derivation="The slow last stage is busy without a break once micro-batch 0 has reached it: $m \\cdot 1.23 "
        "\\cdot (t_F + t_B)$. Before it come three forwards, after it three backwards of the other stages, with $t_F = "
        "1$ and $t_B = 2$.",
    ),
)

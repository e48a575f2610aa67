"""Chapter 07: the questions about chunks, about halves of a backward, and about what crosses a boundary."""

from __future__ import annotations

from autograder.bank.ch07.pipeline_questions import overhead, peak, share
from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, ms

charts = lazily("solutions.ch07.pipeline_charts")
pipeline = lazily("solutions.ch07.pipeline")

FRACTION = "$$\\frac{p-1}{v m + p - 1}$$"
MULTIPLES = "$m$ has to be a multiple of $p$ where chunks are interleaved."


def least_microbatches(stages: int, chunks: int, limit: float = 0.05) -> int:
    """The fewest micro-batches, a multiple of p with chunks, whose idle share is below the limit."""
    step = stages if chunks > 1 else 1
    microbatches = step
    while pipeline.bubble_fraction(stages, microbatches, chunks) >= limit:
        microbatches += step
    return microbatches


def _halves(orders: list[list[str]]) -> float:
    """The idle share of rank 0 in percent, between its own first start and last end: 8 ranks, 32 micro-batches."""
    times = pipeline.simulate_schedule(orders, {"F": 1.0, "I": 1.2, "W": 0.8})
    own = times[orders[0][-1]][1] - times[orders[0][0]][0]
    return 100 * (1 - 32 * 3.0 / own)


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


CHUNKS = (
    Question(
        id="07-interleaved",
        kind="derive",
        title="Four chunks on each rank",
        section="7.17",
        bonus=True,
        parts=(
            Part(
                "idle share",
                "%",
                share(4, 12, 4),
                slips=(
                    Slip("That is the overhead, (p - 1)/(v m).", value=overhead(4, 12, 4)),
                    Slip("That is without chunks.", value=share(4, 12)),
                ),
            ),
            Part(
                "held on rank 0",
                "stages' activations",
                lambda: peak("interleaved", 0, 4, 12, 4) / 4,
                slips=(
                    Slip("That is without chunks: a longer warm-up holds more.", value=4),
                    Slip("Those are chunks: four of them are a stage.", value=lambda: peak("interleaved", 0, 4, 12, 4)),
                ),
            ),
        ),
        derivation=FRACTION + "\n\nwith $p = 4$, $m = 12$, $v = 4$. Rank 0 warms up with $2(p-1) + (v-1)p$ chunks and "
        "runs one more before its first backward; a chunk is a quarter of a stage.",
    ),
    Question(
        id="07-min-microbatches",
        kind="derive",
        title="Below five percent",
        section="7.17",
        bonus=True,
        parts=(
            Part(
                "v = 1",
                "micro-batches",
                lambda: least_microbatches(8, 1),
                tolerance=0,
                slips=(
                    Slip("That brings idle over useful time below 5 %: more than is asked.", value=141),
                    Slip("There the share is 5 % exactly.", value=133),
                ),
            ),
            Part(
                "v = 2",
                "micro-batches",
                lambda: least_microbatches(8, 2),
                tolerance=0,
                slips=(Slip("That is no multiple of 8.", value=67),),
            ),
            Part(
                "v = 4",
                "micro-batches",
                lambda: least_microbatches(8, 4),
                tolerance=0,
                slips=(Slip("That is no multiple of 8.", value=34),),
            ),
        ),
        derivation=FRACTION + "\n\nis below 1/20 when $v m > 19\\,(p - 1)$, with $p = 8$; then " + MULTIPLES,
    ),
    Question(
        id="07-zero-bubble",
        kind="derive",
        title="Weights' gradients in the holes",
        section="7.18",
        bonus=True,
        parts=(
            Part(
                "1F1B",
                "%",
                share(8, 32),
                slips=(Slip("That is idle over useful time.", value=overhead(8, 32)),),
            ),
            Part(
                "ZB-H1",
                "%",
                lambda: _halves(pipeline.pipeline_schedule("zb-h1", 8, 32)),
                slips=(
                    Slip("That is idle over useful time.", value=lambda: 100 * 7 * 1.4 / 96),
                    Slip(
                        "The hole is F + I - W: W fills it, and is no part of it.", value=lambda: 100 * 7 * 2.2 / 111.4
                    ),
                ),
            ),
            Part(
                "ZB-H2",
                "%",
                lambda: _halves(charts.zb_h2(8, 32)),
                slips=(
                    Slip("It is zero when F + I = 2W, as with equal times: here F + I is more.", value=0),
                    Slip("That is idle over useful time.", value=lambda: 100 * 7 * 0.6 / 96),
                    Slip(
                        "That counts to the last end of all ranks: rank 0 has ended before, and goes on.",
                        value=lambda: 100 * 7 / 103,
                    ),
                ),
            ),
        ),
        derivation="Idle time of rank 0, from its own first to its own last operation: $(p-1)(F + I + W)$ for 1F1B, "
        "$(p-1)(F + I - W)$ for ZB-H1, $(p-1)(F + I - 2W)$ for ZB-H2. Useful is $m\\,(F + I + W)$. Here $p = 8$, $m = "
        "32$, $F = 1$, $I = 1.2$, $W = 0.8$.",
    ),
)

BOUNDARIES = (
    Question(
        id="07-p2p-total",
        kind="derive",
        title="Bytes between stages",
        section="7.20",
        bonus=True,
        parts=(
            Part(
                "sent by all ranks",
                "GB",
                lambda: _all_sent(4),
                slips=(
                    Slip(
                        "The chunks were ignored: they are 16 stages, with 15 boundaries.", value=lambda: _all_sent(1)
                    ),
                    Slip("That is one way: gradients come back.", value=lambda: _all_sent(4) / 2),
                    Slip("16 stages in a row have 15 boundaries.", value=192),
                ),
            ),
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
        parts=(
            Part(
                "send time",
                "ms",
                lambda: _send_time(1),
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
            ),
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
        parts=(
            Part(
                "makespan",
                "units of time",
                lambda: makespan("1f1b", 4, 8, {"F": 1.0, "B": 2.0, "3F": 1.23, "3B": 2.46}),
                tolerance=0.001,
                slips=(
                    Slip(
                        "That makes all stages slow.", value=lambda: 1.23 * makespan("1f1b", 4, 8, {"F": 1.0, "B": 2.0})
                    ),
                    Slip("That is without the slow stage.", value=lambda: makespan("1f1b", 4, 8, {"F": 1.0, "B": 2.0})),
                    Slip(
                        "That counts the slow stage's work, and not how it is reached and left.",
                        value=lambda: 8 * 3 * 1.23,
                    ),
                ),
            ),
        ),
        derivation="The slow last stage is busy without a break once micro-batch 0 has reached it: $m \\cdot 1.23 "
        "\\cdot (t_F + t_B)$. Before it come three forwards, after it three backwards of the other stages, with $t_F = "
        "1$ and $t_B = 2$.",
    ),
)

ITEMS = (*CHUNKS, *BOUNDARIES)

"""Section 7.17, Interleaving in numbers: its questions."""

from __future__ import annotations

from autograder.bank.ch07.quantities import overhead, peak, share
from autograder.items import Part, Question, Slip, lazily

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


QUESTIONS = (
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
)

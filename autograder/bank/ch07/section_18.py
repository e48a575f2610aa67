"""Section 7.18, The backward in two halves: its questions."""

from __future__ import annotations

from autograder.bank.ch07.quantities import overhead, share
from autograder.items import Part, Question, Slip, lazily

charts = lazily("solutions.ch07.pipeline_charts")
pipeline = lazily("solutions.ch07.pipeline")


def _halves(orders: list[list[str]]) -> float:
    """The idle share of rank 0 in percent, between its own first start and last end: 8 ranks, 32 micro-batches."""
    times = pipeline.simulate_schedule(orders, {"F": 1.0, "I": 1.2, "W": 0.8})
    own = times[orders[0][-1]][1] - times[orders[0][0]][0]
    return 100 * (1 - 32 * 3.0 / own)


QUESTIONS = (
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

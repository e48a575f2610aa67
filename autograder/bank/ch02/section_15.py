"""Section 2.15, The time of a cut model: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import ms

stages = lazily("solutions.ch02.model_parallel")


def _step(backward: float = 2.0) -> tuple[float, float]:
    return stages.naive_step(12, 3, 10 * ms, 5 * ms, backward)


QUESTIONS = (
    Question(
        id="02-idle-share",
        kind="derive",
        title="Time and utilization of a cut model",
        section="2.15",
        bonus=True,
        parts=(
            Part(
                "step time",
                "ms",
                lambda: _step()[0] / ms,
                slips=(
                    Slip(
                        "That counts the layers of one stage only. The batch passes through all of them.",
                        value=lambda: 2 * (12 / 3 * 10 + 2 * 5),
                    ),
                    Slip(
                        "That counts the layers of one stage only. The batch passes through all of them.",
                        value=lambda: 12 / 3 * 10 * (1 + 2) + 2 * 2 * 5,
                    ),
                    Slip(
                        "That takes the backward pass to be as fast as the forward pass.",
                        value=lambda: _step(1.0)[0] / ms,
                    ),
                    Slip(
                        "The gradients have to come back, so each boundary is crossed twice.",
                        value=lambda: 12 * 10 * (1 + 2) + 2 * 5,
                    ),
                    Slip(
                        "That leaves out the transfers.", value=lambda: stages.naive_step(12, 3, 10 * ms, 0.0)[0] / ms
                    ),
                ),
            ),
            Part(
                "utilization",
                "",
                lambda: _step()[1],
                slips=(
                    Slip("That counts the layers of one stage as the whole forward pass.", value=0.4),
                    Slip("1/p leaves out the transfers, which take time as well.", value=1 / 3),
                    Slip("That is the share of the time in which some stage works.", value=lambda: 3 * _step()[1]),
                    Slip("That is in percent. The question asks for a fraction.", value=lambda: 100 * _step()[1]),
                ),
            ),
        ),
        derivation="$T = L\\,t\\,(1 + r) + 2(p-1)\\,\\tau$ with $L = 12$, $t = 10$ ms, $r = 2$, $p = 3$ and $\\tau = "
        "5$ ms. The useful compute is $L\\,t\\,(1+r)$, and $p$ stages could do $p\\,T$: "
        "$\\frac{L\\,t\\,(1+r)}{p\\,T}$.",
    ),
)

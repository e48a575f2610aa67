"""Section 4.15, Two calculators: its questions."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB, TFLOP

bandwidths = lazily("solutions.ch04.bandwidth")


QUESTIONS = (
    Question(
        id="04-compute-ratio",
        kind="derive",
        title="Communication against compute",
        section="4.15",
        bonus=True,
        parts=(
            Part(
                "ratio",
                "",
                lambda: bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP),
                tolerance=0.01,
                slips=(
                    Slip(
                        "That is computation over communication.",
                        value=lambda: (
                            1 / bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP)
                        ),
                    ),
                ),
            ),
            Part(
                "efficiency as a fraction",
                "",
                lambda: 1 / (1 + bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP)),
                slips=(
                    Slip(
                        "That is the share of communication.",
                        value=lambda: (
                            1 - 1 / (1 + bandwidths.communication_ratio(20 * GB, 8, 100 * GB, 120 * TFLOP, 495 * TFLOP))
                        ),
                    ),
                ),
            ),
        ),
        derivation="Compute takes $\\frac{120\\cdot 10^{12}}{495\\cdot 10^{12}}$ s, the exposed all-reduce 350 ms. "
        "The ratio is $r = T_\\text{comm}/T_\\text{comp}$, and the efficiency $\\frac{1}{1 + r}$.",
    ),
)

"""Section 15.24, The bill, and the sheet in one call: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import GPUS, PEAK, TOKENS, matrix_parameters, part
from autograder.items import Question, Slip, lazily
from rankzero.facts.units import day, million

scale = lazily("solutions.ch01.scale")


def run_days(mfu: float, peak: float = PEAK) -> float:
    """Days of 6ND on 16,384 GPUs."""
    return scale.training_time(6 * matrix_parameters() * TOKENS, GPUS, peak, mfu) / day


def saved_dollars() -> float:
    """Millions of dollars between 40 and 41 percent, at 2 dollars per GPU-hour."""
    return sum(sign * run_days(mfu) for sign, mfu in ((1, 0.40), (-1, 0.41))) * 24 * GPUS * 2 / million


QUESTIONS = (
    Question(
        id="cap-kwh",
        kind="derive",
        title="Electricity of 77 days",
        section="15.24",
        bonus=True,
        parts=(
            part(
                "energy",
                "kWh",
                lambda: GPUS * 0.7 * 77 * 24,
                ("Those are kilowatts times days: a day has 24 hours.", GPUS * 0.7 * 77),
                tolerance=0.005,
            ),
            part(
                "cost",
                "$",
                lambda: GPUS * 0.7 * 77 * 24 * 0.05,
                ("Those are kilowatts times days: a day has 24 hours.", GPUS * 0.7 * 77 * 0.05),
                tolerance=0.005,
            ),
        ),
        derivation="$16384 \\cdot 0.7 \\cdot 77 \\cdot 24$ kWh, at 0.05 dollars each.",
    ),
    Question(
        id="cap-mfu-point",
        kind="derive",
        title="One point of MFU",
        section="15.24",
        bonus=True,
        ask="saved",
        unit="million $",
        answer=saved_dollars,
        slips=(
            Slip(
                "That is one percent of the bill: one point of 40 is more than that.",
                value=lambda: 41 * saved_dollars() / 100,
            ),
        ),
        derivation="$\\frac{6ND}{\\text{peak} \\cdot 3600}\\left(\\frac1{0.40} - \\frac1{0.41}\\right)$ GPU-hours at 2 "
        "dollars, with $N$ = 404e9, $D$ = 15.6e12 and 989.4 TFLOP/s.",
    ),
)

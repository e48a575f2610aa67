"""Section 15.2, The batch: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import GPUS, PEAK, TOKENS
from autograder.bank.ch15.quantities import PARAMETERS
from autograder.items import Choice, Estimate, Landmark, Slip, lazily
from rankzero.facts.units import day

scale = lazily("solutions.ch01.scale")


def _days(mfu: float, peak: float = PEAK) -> float:
    return scale.training_time(6 * PARAMETERS * TOKENS, GPUS, peak, mfu) / day


def _days_at_peak() -> float:
    return _days(1.0)


QUESTIONS = (
    Estimate(
        id="cap-days-40",
        title="How long do 16,384 GPUs need?",
        section="15.2",
        label="3.8e25 FLOP on 16,384 H100s of about 1e15 FLOP/s, at 40 percent of their peak",
        unit="days",
        answer=lambda: _days(0.4),
        factor=1.5,
        scale=(1.0, 1e4),
        landmarks=(
            Landmark(7.0, "7", "a week"),
            Landmark(365.0, "365", "a year"),
            Landmark(3650.0, "3,650", "ten years"),
        ),
        slips=(
            Slip("That is every GPU at its full peak. At 40 percent it takes 2.5 times as long.", value=_days_at_peak),
            Slip(
                "That divides by the peak with sparsity. The dense peak, for ordinary training, is half of it.",
                value=lambda: _days(0.4, 2 * PEAK),
            ),
            Slip("That multiplies by 0.4 where it should divide.", value=lambda: _days_at_peak() * 0.4),
        ),
        derivation=(
            "$16384 \\cdot 10^{15} \\cdot 0.4$ is about $6.5 \\times 10^{18}$ FLOP in a second, and $3.8 \\times "
            "10^{25}$ over that is nearly 6 million seconds. A day has 86,400."
        ),
    ),
    Choice(
        id="cap-54-days",
        kind="trace",
        title="The 54 days",
        section="15.2",
        options=(
            "a window of the training in which interruptions were counted",
            "the training, from the first step to the last",
            "the training without its restarts",
            "the days on 16,384 GPUs, after those on 8,192",
        ),
        correct=0,
        derivation="Find the MFU that 54 days would need: it is near 50 percent, and the paper claims at most 43. The "
        "GPU-hours of the model card make more than 78 days of 16,384 GPUs. The paper counts interruptions in a 54-day "
        "snapshot of pre-training.",
        slips={
            1: "Then the MFU would be near 50 %, more than any row of the paper's table.",
            2: "The window is elapsed time: interruptions were counted in it, and their restarts are part of it.",
            3: "The paper does not print how long each stage took.",
        },
    ),
)

"""Section 1.9, What training costs: its questions."""

from __future__ import annotations

from autograder.bank.ch01.quantities import PARAMETERS, PEAK, UTILIZATION, flops
from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB, TFLOP, year

scale = lazily("solutions.ch01.scale")


def _years(flops: float, peak: float = PEAK, utilization: float = UTILIZATION) -> float:
    """Years on one device."""
    return scale.training_time(flops, 1, peak, utilization) / year


QUESTIONS = (
    Estimate(
        id="01-gpt3-one-gpu",
        title="GPT-3 on one GPU",
        section="1.9",
        label="training 175 billion parameters on 300 billion tokens, on one A100 at half of its 312 TFLOP/s",
        unit="years",
        answer=lambda: _years(flops()),
        factor=1.5,
        scale=(0.01, 10_000),
        landmarks=(
            Landmark(1 / 12, "a month", "how long people wait for a model"),
            Landmark(1.0, "a year", "3.2e7 seconds"),
            Landmark(80.0, "a lifetime", "2.5e9 seconds"),
        ),
        derivation="The work is $6 \\cdot 1.75 \\cdot 10^{11} \\cdot 3 \\cdot 10^{11} \\approx 3 \\cdot 10^{23}$ FLOP. "
        "The device sustains $1.56 \\cdot 10^{14}$ FLOP/s. So it needs about $2 \\cdot 10^9$ seconds. A year has "
        "$3.2 \\cdot 10^7$, so that is a little over 60 years.",
        slips=(
            Slip(
                "That is 3.14e23 FLOP at 28 TFLOP/s, an often quoted estimate for a V100.",
                value=lambda: _years(3.14e23, 28 * TFLOP, 1.0),
            ),
            Slip(
                "That is the time at the full peak. No run sustains it; this one reaches half.",
                value=lambda: _years(flops(), utilization=1.0),
            ),
            Slip(
                "That is the forward pass alone. The backward pass adds twice as much.",
                value=lambda: _years(flops() / 3),
            ),
        ),
    ),
    Estimate(
        id="01-memory-wall",
        title="The fewest devices that hold it",
        section="1.9",
        label="devices of 80 GB that hold weights, gradients and all that Adam keeps, for 175 billion parameters",
        unit="devices",
        answer=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB)),
        factor=1.25,
        scale=(0.1, 10_000),
        landmarks=(
            Landmark(1.0, "one", "a GPU of 80 GB"),
            Landmark(8.0, "a node", "a server with eight of them"),
            Landmark(1000.0, "a cluster", "125 such servers"),
        ),
        derivation="Mixed-precision Adam keeps $2 + 2 + 4 + 4 + 4 = 16$ bytes for each parameter: weight and gradient "
        "in bf16, and in fp32 the copy of the weight and two moments. Divide $16 \\cdot 175$ GB by 80 GB.",
        slips=(
            Slip(
                "That holds 12 bytes per parameter: the fp32 copy of the weights was forgotten.",
                value=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB, 12)),
            ),
            Slip(
                "That holds the weights alone. Training keeps eight times as much.",
                value=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB, 2)),
            ),
            Slip(
                "That holds weights and gradients. The optimizer's fp32 numbers add three times as much.",
                value=lambda: float(scale.minimum_ranks(PARAMETERS, 80 * GB, 4)),
            ),
        ),
    ),
)

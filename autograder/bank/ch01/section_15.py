"""Section 1.15, Time and money: its questions."""

from __future__ import annotations

from autograder.bank.ch01.quantities import PEAK, PRICE, UTILIZATION, flops
from autograder.items import Question, Slip, lazily
from rankzero.facts.units import hour

scale = lazily("solutions.ch01.scale")


def _bill() -> float:
    """USD for the whole run: what one device takes, at 3 USD an hour."""
    return scale.training_time(flops(), 1, PEAK, UTILIZATION) / hour * PRICE


def _share(flops: float, peak: float) -> float:
    """FLOP/s that each of the devices sustained in 1,720,320 device-hours, over a peak."""
    return flops / (1_720_320 * hour) / peak


QUESTIONS = (
    Question(
        id="01-gpt3-bill",
        kind="derive",
        title="The bill for GPT-3",
        section="1.15",
        bonus=True,
        ask="cost",
        unit="USD",
        answer=_bill,
        slips=(
            Slip(
                "That rents one GPU for a year, in which it trains a sixty-fourth of the model.",
                value=lambda: 365 * 24 * PRICE,
            ),
            Slip("The utilization was left out.", value=lambda: _bill() * UTILIZATION),
        ),
        derivation="With perfect scaling the number of devices does not matter: the device-hours are $C / "
        "(\\text{peak} \\cdot \\text{utilization}) / 3600$ with $C = 6 \\cdot 175 \\cdot 10^9 \\cdot 300 \\cdot "
        "10^9$, and each costs 3 USD.",
    ),
    Question(
        id="01-llama2-mfu",
        kind="derive",
        title="The MFU of Llama 2 70B",
        section="1.15",
        bonus=True,
        ask="MFU, as a fraction",
        unit="",
        answer=lambda: _share(scale.training_flops_per_token(70e9) * 2e12, PEAK),
        tolerance=0.015,  # two digits are enough
        slips=(
            Slip(
                "That is in percent: a fraction of 1 is asked for.",
                value=lambda: 100 * _share(scale.training_flops_per_token(70e9) * 2e12, PEAK),
            ),
            Slip(
                "That is a share of the sparse peak: dense products can reach half of it.",
                value=lambda: _share(scale.training_flops_per_token(70e9) * 2e12, 2 * PEAK),
            ),
            Slip("That counts the forward pass alone.", value=lambda: _share(2 * 70e9 * 2e12, PEAK)),
        ),
        derivation="The useful work is $6 \\cdot 70 \\cdot 10^9 \\cdot 2 \\cdot 10^{12}$ FLOP. At full peak, "
        "1,720,320 hours of A100 could do $1720320 \\cdot 3600 \\cdot 312 \\cdot 10^{12}$. The MFU is the one "
        "over the other.",
    ),
)

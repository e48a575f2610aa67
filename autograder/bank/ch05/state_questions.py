"""Chapter 5: the questions about bytes per parameter."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB

precision = lazily("solutions.ch05.precision")
zero = lazily("solutions.ch05.zero")


def _recipe(**settings: object) -> float:
    """GB of states of a 70B model."""
    return 70e9 * sum(zero.state_bytes(**settings)) / GB


def _both_gradients() -> float:
    """A 16-bit and a 32-bit copy of the gradients are kept."""
    return _recipe(gradient="fp32") + 70e9 * zero.state_bytes()[1] / GB


def _stalled(mantissa_bits: int) -> float:
    """1.0, to which 0.001 is added a thousand times, with 8 exponent bits."""
    weight = 1.0
    for _ in range(1000):
        weight = precision.round_to_format(weight + 0.001, 8, mantissa_bits)
    return weight


STATES = (
    Question(
        id="05-states",
        kind="derive",
        title="Five recipes for 70B",
        section="5.6",
        parts=(
            Part(
                "bf16, Adam without a master copy",
                "GB",
                lambda: _recipe(master=False),
                slips=(Slip("That has a master copy.", value=lambda: _recipe()),),
            ),
            Part(
                "classic mixed precision",
                "GB",
                lambda: _recipe(),
                slips=(
                    Slip("The 4-byte master copy is missing.", value=lambda: _recipe(master=False)),
                    Slip(
                        "16 is bytes per parameter: multiply by the parameters, not by the 140 GB of weights.",
                        value=16 * 140.0,
                    ),
                ),
            ),
            Part(
                "with fp32 gradients",
                "GB",
                lambda: _recipe(gradient="fp32"),
                slips=(Slip("The gradients take 4 bytes here.", value=lambda: _recipe()),),
            ),
            Part(
                "with gradients in both precisions",
                "GB",
                _both_gradients,
                slips=(
                    Slip(
                        "20 is bytes per parameter: multiply by the parameters, not by the 140 GB of weights.",
                        value=20 * 140.0,
                    ),
                    Slip("The bf16 gradients are kept too.", value=lambda: _recipe(gradient="fp32")),
                ),
            ),
            Part(
                "classic mixed over pure fp32",
                "",
                lambda: _recipe() / _recipe(compute="fp32"),
                slips=(Slip("Only weights and gradients halve; the master copy takes it back.", value=0.5),),
            ),
        ),
        derivation="Weights + gradients + master copy + two moments, in bytes per parameter: $2+2+0+8$; $2+2+4+8$; "
        "$2+4+4+8$; $2+(2+4)+4+8$. Pure fp32: $4+4+0+8$. Times $70 \\cdot 10^9$.",
    ),
    Question(
        id="05-bf16-stall",
        kind="trace",
        title="A thousand small steps",
        section="5.6",
        parts=(
            Part(
                "bf16 weight of 1.0 after adding 0.001 a thousand times",
                "",
                lambda: _stalled(7),
                slips=(Slip("Next to 1.0, bf16 numbers are 1/128 apart: each sum is rounded back.", value=2.0),),
            ),
            Part(
                "with an fp32 master copy",
                "",
                lambda: _stalled(23),
                slips=(
                    Slip(
                        "The fp32 copy keeps 23 bits after the point: next to 1.0 its numbers are 1.2e-7 apart.",
                        value=1.0,
                    ),
                ),
            ),
        ),
        derivation="A sum is rounded to the nearest number. With 7 bits after the point the numbers after 1 lie "
        "$2^{-7}$ apart, and 0.001 is less than half of that. With 23 bits they lie $2^{-23}$ apart.",
    ),
)

"""Chapter 5: the questions about bytes per parameter."""

from __future__ import annotations

from autograder.items import Part, Question, Slip, lazily
from rankzero.facts.units import GB

zero = lazily("solutions.ch05.zero")


def _recipe(**settings: object) -> float:
    """GB of states of a 70B model."""
    return 70e9 * sum(zero.state_bytes(**settings)) / GB


def _both_gradients() -> float:
    """A 16-bit and a 32-bit copy of the gradients are kept."""
    return _recipe(gradient="fp32") + 70e9 * zero.state_bytes()[1] / GB


STATES = (
    Question(
        id="05-states",
        kind="derive",
        title="Five recipes for 70B",
        section="5.13",
        bonus=True,
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
)

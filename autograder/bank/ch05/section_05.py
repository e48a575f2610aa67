"""Section 5.5, Where the memory goes: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB

zero = lazily("solutions.ch05.zero")

PARAMETERS = 7e9


def _states(**recipe: object) -> float:
    """GB of model state of the 7B model under a recipe."""
    return PARAMETERS * sum(zero.state_bytes(**recipe)) / GB


QUESTIONS = (
    Estimate(
        id="05-state-guess",
        title="A 7B model in training",
        section="5.5",
        label="weights, gradients and optimizer states in mixed precision",
        unit="GB",
        answer=_states,
        factor=1.2,
        scale=(1.0, 1000.0),
        landmarks=(
            Landmark(14.0, "14 GB", "the weights in bf16"),
            Landmark(80.0, "80 GB", "the memory of an H100 SXM"),
            Landmark(640.0, "640 GB", "a node of eight of them"),
        ),
        slips=(
            Slip(
                "That halves everything. Weights and gradients are narrower, but the moments stay in fp32, and so "
                "does a second copy of the weights.",
                value=lambda: _states(moment="bf16", master=False),
            ),
            Slip(
                "The fp32 copy of the weights is missing, to which the optimizer adds its small updates.",
                value=lambda: _states(master=False),
            ),
            Slip("Those are the weights and gradients. The optimizer needs three times as much.", value=28.0),
            Slip("Those are the weights alone.", value=14.0),
        ),
        derivation=(
            "For each parameter: 2 bytes of bf16 weight and 2 of bf16 gradient, then in fp32, 4 bytes each, a master "
            "copy of the weight and Adam's two moments. The two copies of the weight and the narrow gradient take "
            "exactly as much as an fp32 weight and its fp32 gradient, so this recipe does not shrink the model state."
        ),
    ),
)

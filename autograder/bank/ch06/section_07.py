"""Section 6.7, What one layer stores: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.models import GPT3_175B
from rankzero.facts.units import GB

layer_memory = lazily("solutions.ch06.layer_memory")


def gpt3_layer(**options: str) -> float:
    """GB that one layer of GPT-3 keeps for one sequence."""
    return layer_memory.stored_by_layer(2048, 1, GPT3_175B.hidden, GPT3_175B.heads, **options) / GB


QUESTIONS = (
    Estimate(
        id="06-one-layer",
        title="What one layer of GPT-3 keeps",
        section="6.7",
        label="kept by one layer for one sequence of 2,048 tokens",
        unit="GB",
        answer=gpt3_layer,
        factor=2.0,
        scale=(1e-3, 1e4),
        landmarks=(
            Landmark(0.05, "50 MB", "one activation tensor"),
            Landmark(3.6, "3.6 GB", "the layer's weights"),
            Landmark(80.0, "80 GB", "the memory of a GPU"),
        ),
        slips=(
            Slip(
                "That is a single activation tensor: a layer keeps as much as 17, and the attention matrix.", value=0.05
            ),
            Slip(
                "That leaves out the attention matrix: 96 heads keep a number for every pair of 2,048 tokens, three "
                "times over.",
                value=lambda: gpt3_layer(recompute="selective"),
            ),
            Slip("That is the whole model, all 96 layers.", value=lambda: GPT3_175B.layers * gpt3_layer()),
        ),
        derivation=(
            "An activation tensor has 2,048 times 12,288 numbers, 50 MB in bf16. The layer keeps as much as 17 of "
            "these, 0.9 GB. The attention matrix has 96 times 2,048 times 2,048 entries, and 5 bytes are kept for "
            "each: another 2 GB. So the activations of one sequence take four fifths of the memory of the layer's "
            "weights."
        ),
    ),
)

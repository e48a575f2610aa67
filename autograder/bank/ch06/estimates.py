"""Chapter 6: two sizes to estimate before there is a formula for them."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.models import GPT3_175B, LLAMA3_70B
from rankzero.facts.units import GB

activations = lazily("solutions.ch06.activations")

TOKENS, RANKS = 4096, 8


def step_traffic() -> float:
    """GB that a rank sends for all layers of the 70B model in one step."""
    layer = activations.tensor_parallel_traffic(TOKENS, 1, LLAMA3_70B.hidden, RANKS)
    return LLAMA3_70B.layers * layer / GB


def gpt3_layer(**options: str) -> float:
    """GB that one layer of GPT-3 keeps for one sequence."""
    return activations.activation_bytes(2048, 1, GPT3_175B.hidden, GPT3_175B.heads, **options) / GB


TRAFFIC = Estimate(
    id="06-step-traffic",
    title="What one GPU of eight sends in a step",
    section="6.6",
    label="sent by one GPU for all 80 layers, forward and backward",
    unit="GB",
    answer=step_traffic,
    factor=1.5,
    scale=(1e-2, 1e4),
    landmarks=(
        Landmark(0.067, "67 MB", "one activation tensor"),
        Landmark(17.6, "17.6 GB", "the GPU's share of the weights"),
        Landmark(1e3, "1 TB", "twenty seconds over one network port"),
    ),
    slips=(
        Slip(
            "That is one direction: the backward pass sends as much as the forward pass.",
            value=lambda: step_traffic() / 2,
        ),
        Slip(
            "That divides the activations among the ranks. Each rank has the whole tensor, and so each all-reduce "
            "moves the whole tensor.",
            value=lambda: step_traffic() / RANKS,
        ),
        Slip("That is one layer: there are 80.", value=lambda: step_traffic() / LLAMA3_70B.layers),
        Slip("That counts 4 bytes per number: bf16 takes 2.", value=lambda: 2 * step_traffic()),
    ),
    derivation=(
        "One activation tensor has 4,096 times 8,192 numbers, 67 MB in bf16. A ring all-reduce sends nearly twice "
        "that, 117 MB. A layer takes four all-reduces, two forward and two backward, and there are 80 layers: 320 "
        "times 117 MB. That is twice the GPU's share of the weights, in every step, for a single sequence."
    ),
)

LAYER = Estimate(
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
        Slip("That is a single activation tensor: a layer keeps 17 of them and the attention matrix.", value=0.05),
        Slip(
            "That leaves out the attention matrix: 96 heads keep a number for every pair of 2,048 tokens, three times "
            "over.",
            value=lambda: gpt3_layer(recompute="selective"),
        ),
        Slip("That is the whole model, all 96 layers.", value=lambda: GPT3_175B.layers * gpt3_layer()),
    ),
    derivation=(
        "An activation tensor has 2,048 times 12,288 numbers, 50 MB in bf16. The layer keeps about 17 of these, which "
        "makes 0.9 GB. The attention matrix has 96 times 2,048 times 2,048 entries, and 5 bytes are kept for each: "
        "another 2 GB. So the activations of one sequence take nearly as much memory as the layer's weights."
    ),
)

ITEMS = (TRAFFIC, LAYER)

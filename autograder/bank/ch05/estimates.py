"""Chapter 5: two sizes to estimate before there is a formula for them."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB, ms

buckets = lazily("solutions.ch05.buckets")
zero = lazily("solutions.ch05.zero")

LAYERS, COMPUTE, SEND = 40, 5 * ms, 1.5 * ms
PARAMETERS = 7e9


def _states(**recipe: object) -> float:
    """GB of model state of the 7B model under a recipe."""
    return PARAMETERS * sum(zero.state_bytes(**recipe)) / GB


EXPOSED = Estimate(
    id="05-exposed-guess",
    title="How much longer does the backward pass take?",
    section="5.3",
    label="communication that is left when the backward pass has ended",
    unit="ms",
    answer=lambda: buckets.exposed_communication([COMPUTE] * LAYERS, [SEND] * LAYERS) / ms,
    factor=1.5,
    scale=(0.1, 1000.0),
    landmarks=(
        Landmark(0.1, "0.1 ms", "a small all-reduce within one node"),
        Landmark(5.0, "5 ms", "one layer of the backward pass"),
        Landmark(200.0, "200 ms", "the whole backward pass"),
    ),
    slips=(
        Slip(
            "That is all of the communication. Most of it runs while later layers are still being computed.",
            value=LAYERS * SEND / ms,
        ),
        Slip(
            "That is the computing of one layer. What is left over is the last layer's all-reduce.",
            value=COMPUTE / ms,
        ),
        Slip(
            "That is the backward pass without the communication, as if the two took turns on one stream.",
            value=LAYERS * (COMPUTE - SEND) / ms,
        ),
    ),
    derivation=(
        "Every all-reduce is done before the next layer's gradients are ready, so the stream is always free when a "
        "layer needs it. Thirty-nine of the forty run beside the computing of the next layer. Only the last one has "
        "nothing left to hide behind, and how many layers there are does not matter."
    ),
)

STATES = Estimate(
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
        Landmark(80.0, "80 GB", "the memory of an H100"),
        Landmark(640.0, "640 GB", "a node of eight of them"),
    ),
    slips=(
        Slip(
            "That halves everything. Weights and gradients are narrower, but the moments stay in fp32, and so does a "
            "second copy of the weights.",
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
        "For each parameter: 2 bytes of bf16 weight and 2 of bf16 gradient, then in fp32, 4 bytes each, a master copy "
        "of the weight and Adam's two moments. The two copies of the weight and the narrow gradient take exactly as "
        "much as an fp32 weight and its fp32 gradient. Mixed precision does not shrink the model state."
    ),
)

"""Section 5.3, Hiding communication: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import ms

buckets = lazily("solutions.ch05.buckets")

LAYERS, COMPUTE, SEND = 40, 5 * ms, 1.5 * ms


QUESTIONS = (
    Estimate(
        id="05-exposed-guess",
        title="How much longer does the backward pass take?",
        section="5.3",
        label="communication that is left when the backward pass has ended",
        unit="ms",
        answer=lambda: buckets.exposed_communication([COMPUTE] * LAYERS, [SEND] * LAYERS) / ms,
        factor=1.5,
        scale=(0.1, 1000.0),
        landmarks=(
            Landmark(0.1, "0.1 ms", "a fiftieth of a layer"),
            Landmark(5.0, "5 ms", "one layer of the backward pass"),
            Landmark(200.0, "200 ms", "the whole backward pass"),
        ),
        slips=(
            Slip(
                "That is all of the communication. Most of it runs while later layers are still being computed.",
                value=LAYERS * SEND / ms,
            ),
            Slip(
                "That is the computation of one layer. What is left over is the last layer's all-reduce.",
                value=COMPUTE / ms,
            ),
            Slip(
                "That is the backward pass less all communication. What is exposed comes after the pass.",
                value=LAYERS * (COMPUTE - SEND) / ms,
            ),
        ),
        derivation=(
            "Every all-reduce is done before the next layer's gradients are ready, so the stream is always free when a "
            "layer needs it. Thirty-nine of the forty all-reduces run beside the computation of the next layer. Only "
            "the last one has nothing left to hide behind, so the number of layers does not matter."
        ),
    ),
)

"""Chapter 03: a time to estimate before there is a formula for it."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB

cost = lazily("solutions.ch03.collective_cost")

GRADIENT, RANKS, BANDWIDTH = 14 * GB, 64, 50 * GB


ESTIMATES = (
    Estimate(
        id="03-ring-guess",
        title="How long do 64 GPUs add up a gradient of 14 GB?",
        section="3.8",
        label="a ring all-reduce, links of 50 GB/s per direction",
        unit="s",
        answer=lambda: cost.ring_all_reduce_time(GRADIENT, RANKS, BANDWIDTH),
        factor=1.5,
        scale=(1e-3, 1e3),
        landmarks=(
            Landmark(1e-3, "1 ms", "50 MB over one link"),
            Landmark(1.0, "1 s", "50 GB over one link"),
            Landmark(60.0, "1 min", "3 TB over one link"),
        ),
        slips=(
            Slip(
                "That is one walk round the ring. An all-reduce makes two: a reduce-scatter and an all-gather.",
                value=lambda: cost.ring_all_reduce_time(GRADIENT, RANKS, BANDWIDTH) / 2,
            ),
            Slip(
                "bf16 takes 2 bytes per parameter; that is the time for 4.",
                value=lambda: cost.ring_all_reduce_time(2 * GRADIENT, RANKS, BANDWIDTH),
            ),
            Slip(
                "50 GB/s are gigabytes per second: there are no bits to convert.",
                value=lambda: 8 * cost.ring_all_reduce_time(GRADIENT, RANKS, BANDWIDTH),
            ),
            Slip(
                "That sends the whole tensor in each of the 126 steps; a step of the ring sends one chunk of 64.",
                value=2 * (RANKS - 1) * GRADIENT / BANDWIDTH,
            ),
            Slip(
                "That passes 63 whole tensors along the ring. Cut into 64 chunks, it takes 126 steps of a chunk each.",
                value=(RANKS - 1) * GRADIENT / BANDWIDTH,
            ),
            Slip("That is a single step of the ring: there are 126 of them.", value=GRADIENT / RANKS / BANDWIDTH),
        ),
        derivation=(
            "Hardly any formula is needed. Each rank sends almost every byte of the tensor twice, once while the sums "
            "are made and once while they are handed out: $2 \\cdot \\frac{63}{64} \\cdot 14 \\approx 28$ GB. The link "
            "carries 50 GB in a second."
        ),
    ),
)

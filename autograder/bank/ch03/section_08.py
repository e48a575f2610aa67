"""Section 3.8, Time: its questions."""

from __future__ import annotations

from autograder.items import Choice, Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB

cost = lazily("solutions.ch03.collective_cost")

GRADIENT, RANKS, BANDWIDTH = 14 * GB, 64, 50 * GB


QUESTIONS = (
    Estimate(
        id="03-ring-guess",
        title="How long do 64 GPUs take to add up a gradient of 14 GB?",
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
                "That is one trip around the ring. An all-reduce makes two: a reduce-scatter and an all-gather.",
                value=lambda: cost.ring_all_reduce_time(GRADIENT, RANKS, BANDWIDTH) / 2,
            ),
            Slip(
                "bf16 takes 2 bytes per parameter; that is the time for 4.",
                value=lambda: cost.ring_all_reduce_time(2 * GRADIENT, RANKS, BANDWIDTH),
            ),
            Slip(
                "50 GB/s is already in bytes: there are no bits to convert.",
                value=lambda: 8 * cost.ring_all_reduce_time(GRADIENT, RANKS, BANDWIDTH),
            ),
            Slip(
                "That sends the whole tensor in each of the 126 steps; a step of the ring sends one chunk of 64.",
                value=2 * (RANKS - 1) * GRADIENT / BANDWIDTH,
            ),
            Slip(
                "That passes 63 whole tensors around the ring. Cut into 64 chunks, it takes 126 steps of a chunk each.",
                value=(RANKS - 1) * GRADIENT / BANDWIDTH,
            ),
            Slip("That is a single step of the ring: there are 126 of them.", value=GRADIENT / RANKS / BANDWIDTH),
        ),
        derivation=(
            "You hardly need a formula. Each rank sends almost every byte of the tensor twice, once while the sums "
            "are formed and once while they are handed out: $2 \\cdot \\frac{63}{64} \\cdot 14 \\approx 28$ GB. The "
            "link carries 50 GB in a second. Beyond a few GPUs, their number hardly matters."
        ),
    ),
    Choice(
        id="03-beats-the-ring",
        kind="trace",
        title="Faster than the formula",
        section="3.8",
        options=(
            "the switches between the GPUs add, so fewer bytes cross each link",
            "the links carry 900 GB/s in all, and the formula uses half of that",
            "NCCL runs a second ring the other way around, at twice the speed",
            "it does not: 7 percent is within the error of the measurement",
        ),
        correct=0,
        derivation="The formula's time for the bytes is a lower bound as long as the *ranks* do the adding and nothing "
        "is compressed: then some link must carry $2\\frac{N-1}{N}S$ bytes. A switch that adds receives every "
        "rank's tensor once and returns the sum once, about $S$ per link. So this time below the bound does not mean "
        "that the links are faster: another algorithm ran.",
        slips={
            1: "900 GB/s is both directions together. A rank of the ring sends at most 450.",
            2: "In every step each rank already sends and receives at full rate: both directions are in use.",
            3: "Two benchmarks on this node agree to within 1 percent, and the difference here is 7 percent.",
        },
    ),
)

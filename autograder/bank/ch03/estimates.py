"""Chapter 03: two sizes to estimate before there is a formula for them."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.units import GB

cost = lazily("solutions.ch03.collective_cost")

GRADIENT, RANKS, BANDWIDTH = 14 * GB, 64, 50 * GB
VOCABULARY, FLOAT32, SHARDS = 128_256, 4, 8


def _saving() -> float:
    """Bytes received when the row is gathered, over those of two all-reduces of one number."""
    row = cost.traffic("all_gather", VOCABULARY * FLOAT32, SHARDS, 0)[1]
    return row / (2 * cost.traffic("all_reduce", FLOAT32, SHARDS, 0)[1])


ESTIMATES = (
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
            "link carries 50 GB in a second. The number of GPUs hardly matters."
        ),
    ),
    Estimate(
        id="03-softmax-bytes",
        title="Two numbers instead of a row",
        section="3.10",
        label="bytes received with the whole row, over bytes received with two numbers",
        unit="times",
        answer=_saving,
        factor=4.0,
        scale=(1.0, 1e7),
        landmarks=(
            Landmark(8.0, "8", "the number of ranks"),
            Landmark(1e3, "1,000", "a quarter of an hour against a second"),
            Landmark(1e6, "1,000,000", "twelve days against a second"),
        ),
        slips=(
            Slip(
                "That is the number of ranks. The row grows with the vocabulary and the two numbers do not.",
                value=float(SHARDS),
            ),
            Slip(
                "That is the size of the row in bytes. The two numbers are not free: they cost 14 bytes on average.",
                value=lambda: cost.traffic("all_gather", VOCABULARY * FLOAT32, SHARDS, 0)[1],
            ),
        ),
        derivation=(
            "A rank lacks seven eighths of the 128,256 numbers of the row. To all-reduce a single number, 8 ranks need "
            "7 messages to add it up and 7 to hand it out, $\\frac{14}{8}$ for each rank on average, and this happens "
            "twice: $4 \\cdot \\frac{7}{8}$. The seven eighths cancel, so the saving is a quarter of the vocabulary."
        ),
    ),
)

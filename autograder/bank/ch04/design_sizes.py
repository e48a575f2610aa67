"""Section 4.7: the design ``04-design-sizes``."""

from __future__ import annotations

from autograder.items import Axis, Design, Knob, Simulated, lazily
from rankzero.facts.units import GB, KiB, MiB, us

bandwidth = lazily("solutions.ch04.bandwidth")

#: Microseconds of an all-reduce of 8 bytes, 16, 32, ... on two nodes: the published times of section 4.6.
# fmt: off
MICROSECONDS = (
    69.12, 72.64, 74.06, 65.48, 74.92, 74.12, 69.50, 69.24, 72.22, 78.58, 81.44, 94.36, 111.7, 135.1, 108.9, 128.0,
    123.7, 123.2, 147.2, 168.6, 204.8, 298.1, 439.7, 601.5, 870.3, 1468.2, 2559.2, 4607.6, 9074.5, 17286, 33605, 66132,
)
# fmt: on
ROWS = [(8.0 * 2**index, time * us) for index, time in enumerate(MICROSECONDS)]

#: What the job sends: the least and the largest size of its tensors and of its buckets.
TENSORS, BUCKETS = (64 * KiB, 1 * MiB), (4 * MiB, 256 * MiB)
#: The largest error with which a line is of use.
USABLE = 0.30


def line(smallest: int, largest: int) -> Simulated:
    """A line through every other published size of a range, and its largest errors at those that it has not seen."""
    seen = [row for row in ROWS[::2] if smallest * KiB <= row[0] <= largest * MiB]
    alpha, rate = bandwidth.fit_alpha_beta(*zip(*seen, strict=True))
    tensors, buckets = (
        max(abs((alpha + size / rate) / time - 1) for size, time in ROWS[1::2] if low <= size <= high)
        for low, high in (TENSORS, BUCKETS)
    )
    told = (
        f"α is {alpha / us:.0f} µs and B is {rate / GB:.0f} GB/s, from {len(seen)} sizes. "
        f"The line is off by up to {tensors:.0%} for the tensors and {buckets:.0%} for the buckets."
    )
    broken = ""
    if max(tensors, buckets) > USABLE:
        broken = f"But an error of more than {USABLE:.0%} makes it useless for this job."
    return Simulated(told, (100 * tensors, 100 * buckets), broken)


QUESTIONS = (
    Design(
        id="04-design-sizes",
        title="Which sizes do you trust?",
        section="4.7",
        knobs=(
            Knob("smallest", "smallest size of the fit, KiB (`smallest`)", (2, 32, 128, 512, 2048, 8192)),
            Knob("largest", "largest size of the fit, MiB (`largest`)", (32, 128, 512, 8192)),
        ),
        axes=(Axis("largest error for the tensors", "%"), Axis("largest error for the buckets", "%")),
        simulate=line,
        derivation=(
            "The smallest sizes pull the start-up down, to below what any of these tensors takes, and those of "
            "gigabytes pull the bandwidth up, above what the buckets get. A fit that ends at 32 MiB has not seen the "
            "large buckets, and misses them by more than three quarters."
            "\n\n"
            "What is left is a choice. A range that begins at 128 KiB describes the tensors well and the buckets "
            "fairly. A range that begins at 2 MiB describes the buckets better and the tensors worse. The best line "
            "for the buckets alone is useless for the tensors. No single line is best for both: if you can, use "
            "two lines."
        ),
    ),
)

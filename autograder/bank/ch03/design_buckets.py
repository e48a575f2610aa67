"""Section 3.8: the design ``03-buckets``."""

from __future__ import annotations

import math

from autograder.items import Axis, Design, Knob, Simulated, lazily
from rankzero.facts.units import GB, MB, format_time, us

cost = lazily("solutions.ch03.collective_cost")

GRADIENT, RANKS, BANDWIDTH, LATENCY = 14 * GB, 64, 50 * GB, 5 * us

#: Seconds: of the backward pass, and by which the last bucket may delay a step.
BACKWARD, AFFORDED = 0.65, 0.05


def buckets_of_7b(megabytes: int) -> Simulated:
    """The all-reduces of a backward pass, one bucket after the other. The last cannot begin before the pass ends."""
    count = math.ceil(GRADIENT / (megabytes * MB))
    each = cost.ring_all_reduce_time(GRADIENT / count, RANKS, BANDWIDTH, LATENCY)
    start_up = cost.ring_all_reduce_time(0, RANKS, BANDWIDTH, LATENCY)
    hidden = (count - 1) * each
    told = (
        f"Number of buckets: {count:,}. A ring takes {format_time(each)} for each, so the links work for "
        f"{format_time(count * each)}, and the last bucket delays the step by {format_time(each)}."
    )
    broken = ""
    if hidden > BACKWARD:
        broken = (
            f"But the buckets before the last take {format_time(hidden)}, longer than the backward pass: "
            f"{start_up / each:.0%} of it is start-up."
        )
    elif each > AFFORDED:
        broken = f"But {format_time(AFFORDED)} of delay is all that the step can afford."
    return Simulated(told, (count * each, each), broken)


QUESTIONS = (
    Design(
        id="03-buckets",
        title="Cut a gradient of 14 GB into buckets",
        section="3.8",
        knobs=(Knob("megabytes", "MB in a bucket (`megabytes`)", (1, 5, 25, 50, 100, 200, 400, 1000, 3000, 14000)),),
        axes=(Axis("time that the links work", "s"), Axis("delay by the last bucket", "s")),
        simulate=buckets_of_7b,
        derivation=(
            "Every bucket pays $2(N-1)\\alpha$, 0.63 ms here. A bucket of 25 MB needs 0.98 ms for its bytes, 1.6 ms "
            "in all. So 560 such buckets take 0.9 s, longer than the backward pass. From 100 MB on they fit. Larger "
            "buckets then save at most 0.09 s more, because the bytes take the same time however they are cut. But "
            "nothing hides the last bucket, and its time grows with its size. At 3 GB it takes longer than the "
            "step can afford. Every size in between is defensible. With more ranks the smallest of these sizes grows. "
            "With these links, the default of DDP, 25 MiB, suits smaller groups."
        ),
    ),
)

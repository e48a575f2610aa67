"""Section 4.5, Levels: its questions."""

from __future__ import annotations

from autograder.bank.ch04.quantities import NVLINK, PORT, levels, seconds
from autograder.items import Estimate, Landmark, Slip
from rankzero.facts.units import GB

QUESTIONS = (
    Estimate(
        id="04-cross-node",
        title="How long does 20 GB take across eight nodes?",
        section="4.5",
        label="an all-reduce in levels: 8 nodes of 8 GPUs, 450 GB/s inside, a port of 50 GB/s for each GPU",
        unit="s",
        answer=lambda: levels(20 * GB),
        factor=1.25,
        scale=(1e-3, 10.0),
        landmarks=(
            Landmark(44e-3, "44 ms", "20 GB over one NVLink"),
            Landmark(0.4, "0.4 s", "20 GB over one port"),
        ),
        slips=(
            Slip(
                "That is the part across the nodes alone, or a ring of 64 GPUs as if one NVLink joined them all. The "
                "reduce-scatter and the all-gather inside take nearly as long again.",
                value=lambda: levels(20 * GB, 0.0),
            ),
            Slip(
                "That sends all 20 GB through every port. After the reduce-scatter a GPU has only an eighth to send.",
                value=lambda: seconds("ring", 20 * GB, 8, PORT) + seconds("ring", 20 * GB, 8, NVLINK),
            ),
        ),
        derivation=(
            "Inside: a reduce-scatter and an all-gather among 8 GPUs move $2 \\cdot \\frac78 \\cdot 20$ GB at 450 "
            "GB/s. Across: each GPU all-reduces its eighth, 2.5 GB, with seven partners over its own port, $2 \\cdot "
            "\\frac78 \\cdot 2.5$ GB at 50 GB/s. The two parts come one after the other."
        ),
    ),
)

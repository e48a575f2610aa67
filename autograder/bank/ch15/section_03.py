"""Section 15.3, The layout: its questions."""

from __future__ import annotations

from autograder.bank.ch15.inputs import NETWORK, NVLINK
from autograder.bank.ch15.shared import laid_out
from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.models import LLAMA3_405B

plan = lazily("solutions.ch15.run_plan")


def _tp_bytes() -> float:
    """Sent by one GPU in a step: 4 all-reduces in 8 layers for 16 micro-batches, rings of 8."""
    return float(plan.traffic_per_gpu(LLAMA3_405B, laid_out(8, 1, 16, 128, 16, 8192))["tp"])


QUESTIONS = (
    Estimate(
        id="cap-tp-traffic",
        title="Tensor parallelism over the network",
        section="15.3",
        label="4 all-reduces of 268 MB over 8 GPUs, in 8 layers, for 16 micro-batches, at 50 GB/s",
        unit="s",
        answer=lambda: _tp_bytes() / NETWORK,
        factor=1.5,
        scale=(1e-3, 1e3),
        landmarks=(
            Landmark(268e6 / NETWORK, "5 ms", "268 MB over one port of the network"),
            Landmark(6.2, "6 s", "the whole step"),
            Landmark(60.0, "1 min", "ten steps"),
        ),
        slips=(
            Slip("That is the time on NVLink, which is nine times as fast.", value=lambda: _tp_bytes() / NVLINK),
            Slip(
                "That sends each tensor once. In a ring all-reduce every rank sends 7/8 of it twice.",
                value=lambda: _tp_bytes() / 1.75 / NETWORK,
            ),
            Slip("That is a single micro-batch. A step has 16 of them.", value=lambda: _tp_bytes() / 16 / NETWORK),
            Slip("That is a single layer. A GPU has 8 of them.", value=lambda: _tp_bytes() / 8 / NETWORK),
            Slip(
                "That sends each tensor to seven others. A ring sends less than two tensors, whatever its size.",
                value=lambda: _tp_bytes() * 4 / NETWORK,
            ),
        ),
        derivation=(
            "$4 \\cdot 8 \\cdot 16 = 512$ all-reduces. In a ring of 8 each GPU sends $2 \\cdot \\frac78$ of 268 MB, "
            "0.47 GB, so about 240 GB in all. Over the network, that takes more than three quarters of a step, "
            "and comes on top of it if nothing overlaps. Over NVLink, it takes less than a tenth of a step."
        ),
    ),
)

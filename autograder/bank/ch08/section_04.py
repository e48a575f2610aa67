"""Section 8.4, A batch is nearly free, until it is not: its questions."""

from __future__ import annotations

from autograder.bank.ch08.quantities import BANDWIDTH, KV_8B, PEAK
from autograder.items import Choice, Estimate, Landmark, Slip, lazily
from rankzero.facts.models import LLAMA3_8B

serving = lazily("solutions.ch08.serving")


def _decode(batch: int) -> float:
    """Seconds of a pass at 2,048 tokens each, Llama 3 8B on an H100."""
    n = LLAMA3_8B.parameters
    return serving.pass_time(batch, [2048] * batch, n, 2 * n, KV_8B, PEAK, BANDWIDTH)


QUESTIONS = (
    Estimate(
        id="08-batch-cost",
        title="What 256 users cost",
        section="8.4",
        label="time of a pass, 256 users over one user",
        unit="times",
        answer=lambda: _decode(256) / _decode(1),
        factor=1.5,
        scale=(0.5, 500.0),
        landmarks=(
            Landmark(1.0, "1", "nobody notices the others"),
            Landmark(16.0, "16", "the square root"),
            Landmark(256.0, "256", "as if one after the other"),
        ),
        slips=(
            Slip("Only the weights are shared; every user brings a cache.", value=1),
            Slip("The weights are read once for all of them.", value=256),
        ),
        derivation="The weights, 16.1 GB, take longer to read than 256 tokens to multiply. A cache is "
        "$2048 \\cdot 131072$ bytes, 0.27 GB: $(16.1 + 256 \\cdot 0.27) / (16.1 + 0.27)$.",
    ),
    Choice(
        id="08-halve-bytes",
        kind="design",
        title="Half the bytes of what?",
        section="8.4",
        options=(
            "the cache: reading it is most of the pass, and the weights are read behind the multiplying",
            "the weights: every token of the pass goes through them",
            "either: a byte is a byte, and both are read in every pass",
            "neither: with 512 users the GPU is busy multiplying",
        ),
        correct=0,
        derivation="With 512 users multiplying takes 8.3 ms, reading the weights 4.8 ms and reading the caches 41 ms. "
        "Half the cache saves 20.5 of 49.3 ms. Half the weights save nothing, because multiplying is slower than "
        "reading them. (Half the weights would leave more memory for users, which is another reason to want it.)",
        slips={
            1: "They do, but 512 tokens multiply for 8.3 ms, and the weights are read in 4.8 ms meanwhile.",
            2: "The weights are 16 GB and the 512 caches together 137 GB.",
            3: "Multiplying takes 8.3 ms of 49.3 ms. The caches are read by another kernel, whose time is added.",
        },
    ),
)

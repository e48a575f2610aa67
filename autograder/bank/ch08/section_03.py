"""Section 8.3, What a pass costs: its questions."""

from __future__ import annotations

from autograder.items import Estimate, Landmark, Slip, lazily
from rankzero.facts.hardware import A100_SXM
from rankzero.facts.models import LLAMA2_70B

serving = lazily("solutions.ch08.serving")


def _speed(gpus: int = 2, element: float = 2) -> float:
    """Tokens per second of one user of Llama 2 70B, the cache left aside."""
    n, speed = LLAMA2_70B.parameters, (gpus * A100_SXM.peak_bf16, gpus * A100_SXM.memory_bandwidth)
    return 1 / serving.pass_time(1, [], n, element * n, 0, *speed)


def _multiplying() -> float:
    return 2 * A100_SXM.peak_bf16 / (2 * LLAMA2_70B.parameters)


QUESTIONS = (
    Estimate(
        id="08-floor-70b",
        title="One user, 70 billion parameters",
        section="8.3",
        label="tokens per second of one user, at most",
        unit="tokens/s",
        answer=_speed,
        factor=1.5,
        scale=(1.0, 10_000.0),
        landmarks=(
            Landmark(4.0, "4", "as fast as people read aloud"),
            Landmark(100.0, "100", "a page in six seconds"),
            Landmark(2000.0, "2,000", "a book in a minute"),
        ),
        slips=(
            Slip(
                "That is about what multiplying allows. For one token, reading the weights takes longer.",
                value=_multiplying,
            ),
            Slip("That is one GPU. Two read side by side, each its half of the weights.", value=lambda: _speed(1)),
            Slip("That is one byte for each weight; in bf16 it has two.", value=lambda: _speed(2, 1)),
        ),
        derivation="A pass reads 138 GB of weights, half of them on each GPU, at 2.04 TB/s each: 34 ms. Each pass "
        "gives one token.",
    ),
)

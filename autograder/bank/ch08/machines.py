"""Chapter 08: machines and models that several exercises share."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08.quantities import KV_8B
from rankzero.facts.hardware import A100_SXM, H100_SXM
from rankzero.facts.models import LLAMA3_8B

#: Peak of dense bf16, FLOP/s, and memory bandwidth, bytes/s (rounded: 2.039 TB has a last bit that 2.039e12 lacks).
H100, A100 = ((gpu.peak_bf16, round(gpu.memory_bandwidth) * 1.0) for gpu in (H100_SXM, A100_SXM))

#: Llama 3 8B: parameters, bytes of bf16 weights, KV bytes of a token.
LLAMA = (LLAMA3_8B.parameters, 2 * LLAMA3_8B.parameters, KV_8B)


def machine(rng: Random) -> tuple[float, float]:
    """Peak and bandwidth of one to eight GPUs."""
    gpus = rng.choice((1, 2, 4, 8))
    peak, bandwidth = rng.choice((H100, A100))
    return gpus * peak, gpus * bandwidth


def model(rng: Random, least: float = 9.5, most: float = 11.5) -> tuple[float, float]:
    """Parameters and bytes of weights, in 1, 2 or 4 bytes each."""
    parameters = float(round(10 ** rng.uniform(least, most)))
    return parameters, parameters * rng.choice((1, 2, 2, 4))

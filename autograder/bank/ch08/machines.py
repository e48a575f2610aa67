"""Chapter 08: machines and models that several exercises share."""

from __future__ import annotations

from random import Random

#: Peak of dense bf16, FLOP/s, and memory bandwidth, bytes/s.
H100 = (989.4e12, 3.35e12)

A100 = (312e12, 2.039e12)

#: Llama 3 8B: parameters, bytes of bf16 weights, KV bytes of a token.
LLAMA = (8_030_261_248, 16_060_522_496, 131_072)


def machine(rng: Random) -> tuple[float, float]:
    """Peak and bandwidth of one to eight GPUs."""
    gpus = rng.choice((1, 2, 4, 8))
    peak, bandwidth = rng.choice((H100, A100))
    return gpus * peak, gpus * bandwidth


def model(rng: Random, least: float = 9.5, most: float = 11.5) -> tuple[float, float]:
    """Parameters and bytes of weights, in 1, 2 or 4 bytes each."""
    parameters = float(round(10 ** rng.uniform(least, most)))
    return parameters, parameters * rng.choice((1, 2, 2, 4))

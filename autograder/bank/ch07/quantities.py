"""What several questions of chapter 7 compute with."""

from __future__ import annotations

import math
from collections.abc import Callable

from autograder.items import lazily

pipeline = lazily("solutions.ch07.pipeline")

#: A mixture: tokens, experts, experts of one token.
TOKENS, EXPERTS, TOP_K = 512, 64, 2


def load_chances() -> list[float]:
    """How likely it is that an expert gets 0, 1, 2, ... of the assignments, if every token draws at random."""
    chance, chances = TOP_K / EXPERTS, []
    for load in range(TOKENS + 1):
        ways = math.lgamma(TOKENS + 1) - math.lgamma(load + 1) - math.lgamma(TOKENS - load + 1)
        chances.append(math.exp(ways + load * math.log(chance) + (TOKENS - load) * math.log1p(-chance)))
    return chances


def share(stages: int, microbatches: int, chunks: int = 1) -> Callable[[], float]:
    """Idle time over the total, in percent."""
    return lambda: 100 * pipeline.bubble_fraction(stages, microbatches, chunks)


def overhead(stages: int, microbatches: int, chunks: int = 1) -> Callable[[], float]:
    """Idle time over the useful time, in percent."""
    return lambda: 100 * pipeline.bubble_overhead(stages, microbatches, chunks)


def peak(name: str, rank: int, ranks: int, microbatches: int, chunks: int = 1) -> int:
    return pipeline.peak_in_flight(pipeline.pipeline_schedule(name, ranks, microbatches, chunks)[rank])

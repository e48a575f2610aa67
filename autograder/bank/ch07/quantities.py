"""What several questions of chapter 7 compute with."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import lazily

pipeline = lazily("solutions.ch07.pipeline")


def share(stages: int, microbatches: int, chunks: int = 1) -> Callable[[], float]:
    """Idle time over the total, in percent."""
    return lambda: 100 * pipeline.bubble_fraction(stages, microbatches, chunks)


def overhead(stages: int, microbatches: int, chunks: int = 1) -> Callable[[], float]:
    """Idle time over the useful time, in percent."""
    return lambda: 100 * pipeline.bubble_overhead(stages, microbatches, chunks)


def peak(name: str, rank: int, ranks: int, microbatches: int, chunks: int = 1) -> int:
    return pipeline.peak_in_flight(pipeline.pipeline_schedule(name, ranks, microbatches, chunks)[rank])

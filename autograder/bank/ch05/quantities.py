"""What several questions of chapter 5 compute with."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import lazily
from rankzero.facts.units import GB

precision = lazily("solutions.ch05.precision")
zero = lazily("solutions.ch05.zero")

LONG = (0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)


def fp16(value: float) -> float:
    return precision.round_to_format(value, 5, 10)


def last(run: Callable[[], list[float]]) -> Callable[[], float]:
    return lambda: run()[-1]


#: What a rank holds, by stage.
MEMORY = (
    "$$M = P\\left(\\frac{2}{N\\ \\text{if } s \\ge 3} + \\frac{2}{N\\ \\text{if } s \\ge 2} "
    "+ \\frac{12}{N\\ \\text{if } s \\ge 1}\\right)$$"
)


def held(params: float, stage: int, ranks: int, optimizer_bytes: float = 12.0, gradient_bytes: float = 2.0) -> float:
    """GB on one rank."""
    return zero.zero_memory(params, stage, ranks, 2.0, gradient_bytes, optimizer_bytes) / GB


def lost_gradients(params: float, stage: int, ranks: int) -> float:
    """GB on one rank if the sliced gradients were gone."""
    return held(params, stage, ranks, gradient_bytes=0.0)

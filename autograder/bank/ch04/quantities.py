"""What several questions of chapter 4 compute with."""

from __future__ import annotations

from collections.abc import Callable

from autograder.items import lazily
from rankzero.facts.hardware import DGX_H100, NVLINK4
from rankzero.facts.units import TFLOP, ms, us

algorithms = lazily("solutions.ch04.all_reduce_algorithms")


def all_reduce_ms(name: str, *arguments: float, times: float = 1.0) -> Callable[[], float]:
    """An all-reduce's time in milliseconds."""
    return lambda: times * algorithms.all_reduce_time(name, *arguments) / ms


PORT, NVLINK = DGX_H100.port.bandwidth, NVLINK4.bandwidth
ALPHA, RATE = 5 * us, 495 * TFLOP


def seconds(name: str, *arguments: float) -> float:
    """Time of an all-reduce, seconds."""
    return algorithms.all_reduce_time(name, *arguments)


def levels(size: float, inside: float = 1.0) -> float:
    """Seconds of two levels on 8 nodes of 8 GPUs; ``inside`` scales the part inside the nodes."""
    return inside * seconds("ring", size, 8, NVLINK) + seconds("ring", size / 8, 8, PORT)

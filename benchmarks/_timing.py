"""How the benchmarks time: processor time, medians, nothing collected meanwhile."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable


def medians(repeats: int, *actions: Callable[[], object]) -> list[float]:
    """Median processor time of each action, seconds. They take turns; as in timeit, nothing is collected meanwhile."""
    times: list[list[float]] = [[] for _ in actions]
    gc.disable()
    for _ in range(repeats):
        for action, laps in zip(actions, times, strict=True):
            start = time.process_time()
            action()
            laps.append(time.process_time() - start)
            gc.collect()
    gc.enable()
    return [statistics.median(laps) for laps in times]

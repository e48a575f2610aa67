"""Threads or processes: the same work done by two threads of one process and by two processes, timed on this machine.

    wall_times(workers=2)["Python loop"]

There are two kinds of work. A loop of plain Python holds the interpreter's lock; a product of large matrices releases
it. Each product uses one core (one intra-op thread), so that the workers, not the library, divide up the machine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import torch
import torch.distributed as dist

from rankzero import world

SIDE = 512  # of the matrices


def python_loop(size: int) -> int:
    """``size`` additions, each of them by the interpreter."""
    total = 0
    for number in range(size):
        total += number
    return total


def matrix_products(size: int) -> torch.Tensor:
    """``size`` products of two square matrices [512, 512], one after the other."""
    matrix = torch.eye(SIDE)
    for _ in range(size):
        matrix = matrix @ matrix
    return matrix


def wall_times(
    workers: int = 2, additions: int = 500_000, products: int = 12, repeats: int = 2
) -> dict[str, dict[str, float]]:
    """Wall times, in seconds, of two kinds of work by one worker, by ``workers`` threads, by ``workers`` processes.

    Every worker does all of the work, so ideally the time stays that of one worker. Each time is the shortest of
    ``repeats``, because anything else the machine does can only add to it.

    Args:
        workers: at least 1.
        additions: additions in each worker's loop.
        products: matrix products of each worker.
        repeats: at least 1.

    Returns:
        ``times[work][who]``: work is ``Python loop`` or ``matrix products``; who is ``1 worker``, ``2 threads`` or
        ``2 processes`` (with the number of workers).
    """
    times = {}
    for name, work, size in (
        ("Python loop", python_loop, additions),
        ("matrix products", matrix_products, products),
    ):
        times[name] = {
            "1 worker": world.run(_threads, work, size, 1, repeats, ranks=1).values[0],
            f"{workers} threads": world.run(_threads, work, size, workers, repeats, ranks=1).values[0],
            f"{workers} processes": _processes(work, size, workers, repeats),
        }
    return times


def _threads(work: Callable[[int], object], size: int, workers: int, repeats: int) -> float:
    """In a process of its own: the shortest time until all threads have done the work."""
    laps = []
    for _ in range(repeats):
        threads = [threading.Thread(target=work, args=(size,)) for _ in range(workers)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        laps.append(time.monotonic() - start)
    return min(laps)


def _processes(work: Callable[[int], object], size: int, workers: int, repeats: int) -> float:
    """The shortest time from the first start to the last end, over rounds in which the processes start together."""
    by_rank = world.run(_laps, work, size, repeats, ranks=workers).values
    rounds = zip(*by_rank, strict=True)
    return min(max(end for _, end in lap) - min(start for start, _ in lap) for lap in rounds)


def _laps(work: Callable[[int], object], size: int, repeats: int) -> list[tuple[float, float]]:
    """On one rank: when each repetition began and ended, by the machine's clock."""
    laps = []
    for _ in range(repeats):
        dist.barrier()
        start = time.monotonic()
        work(size)
        laps.append((start, time.monotonic()))
    return laps

"""Threads or processes: how many cores two threads of one process, and two processes, keep busy on this machine.

    busy_cores(workers=2)["Python loop"]

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
PAUSE = 0.03  # seconds before each round: who has waited is soon given a core, even where many want one


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


def busy_cores(
    workers: int = 2, additions: int = 100_000, products: int = 1, repeats: int = 30
) -> dict[str, dict[str, float]]:
    """Cores that one worker, ``workers`` threads and ``workers`` processes keep busy with two kinds of work.

    Every worker does all of the work. The cores that they keep busy are the CPU time that they take together over the
    time that passes. Each number is the largest of ``repeats``, because anything else the machine does only lowers it;
    but nothing raises it above 1 for workers who share a lock. A round takes a few milliseconds, after a pause, so that
    even on a busy machine some rounds run undisturbed.

    Args:
        workers: at least 1.
        additions: additions in each worker's loop.
        products: matrix products of each worker.
        repeats: at least 1.

    Returns:
        ``cores[work][who]``: work is ``Python loop`` or ``matrix products``; who is ``1 worker``, ``2 threads`` or
        ``2 processes`` (with the number of workers).
    """
    cores = {}
    for name, work, size in (
        ("Python loop", python_loop, additions),
        ("matrix products", matrix_products, products),
    ):
        cores[name] = {
            "1 worker": world.run(_threads, work, size, 1, repeats, ranks=1).values[0],
            f"{workers} threads": world.run(_threads, work, size, workers, repeats, ranks=1).values[0],
            f"{workers} processes": _processes(work, size, workers, repeats),
        }
    return cores


def _threads(work: Callable[[int], object], size: int, workers: int, repeats: int) -> float:
    """In a process of its own: the most cores that the threads have kept busy until all have done the work."""
    found = []
    for _ in range(repeats):
        time.sleep(PAUSE)
        threads = [threading.Thread(target=work, args=(size,)) for _ in range(workers)]
        start, used = time.monotonic(), time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found.append((time.process_time() - used) / (time.monotonic() - start))
        if found[-1] > 0.95 * workers:
            break  # it hardly gets better
    return max(found)


def _processes(work: Callable[[int], object], size: int, workers: int, repeats: int) -> float:
    """The most cores that the processes have kept busy, over rounds in which they start together."""
    by_rank = world.run(_laps, work, size, repeats, ranks=workers).values
    rounds = zip(*by_rank, strict=True)
    return max(
        sum(used for _, _, used in lap) / (max(end for _, end, _ in lap) - min(start for start, _, _ in lap))
        for lap in rounds
    )


def _laps(work: Callable[[int], object], size: int, repeats: int) -> list[tuple[float, float, float]]:
    """On one rank: when each repetition began and ended, by the machine's clock, and the CPU time that it took."""
    laps = []
    for _ in range(repeats):
        time.sleep(PAUSE)
        dist.barrier()
        start, used = time.monotonic(), time.process_time()
        work(size)
        laps.append((start, time.monotonic(), time.process_time() - used))
    return laps

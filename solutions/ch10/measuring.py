"""Two loops around a device that works on its own: one that measures it, one that keeps it busy. Standard library only.

A device here is what a CUDA stream is: a call hands work over and returns, and the work runs later, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import TypeVar

from rankzero import checks

T = TypeVar("T")


def device_seconds(
    work: Callable[[], object],
    wait: Callable[[], object],
    clock: Callable[[], float],
    warmups: int = 3,
    repeats: int = 10,
) -> float:
    """The median time that a device takes for some work, in seconds, launches included.

    ``work()`` hands kernels to the device and returns before they have run; ``wait()`` returns when the device has
    nothing left to do. Each repeat is timed by itself, from a device that is idle to one that is idle again. The
    warm-ups run before, untimed: the first call may compile, allocate or capture, and nothing of them may be left on
    the device when the first repeat begins.

    Args:
        work: one run of what is measured.
        wait: on a GPU ``torch.cuda.synchronize``.
        clock: seconds, such as ``time.perf_counter``.
        warmups: calls before the first one that counts; not negative.
        repeats: calls that count; at least 1.
    """
    checks.count(0, warmups=warmups)
    checks.count(repeats=repeats)
    for _ in range(warmups):
        work()
    times = []
    for _ in range(repeats):
        wait()
        start = clock()
        work()
        wait()
        times.append(clock() - start)
    return median(times)


def overlapped_loop(more: Callable[[], bool], launch: Callable[[], T], process: Callable[[T], object]) -> int:
    """Run an engine one step ahead of its results; returns how many steps were launched.

    While the device computes a step, the CPU processes the step before: each step is launched before the results of the
    one before it are processed. Steps are processed in their order, each once, and the last one too. ``more()`` is
    asked before each launch, after everything that could be processed until then; at the first no, nothing is launched
    any more.

    Args:
        more: whether there is work to schedule.
        launch: schedules a step, hands it to the device and returns at once what stands for its results.
        process: waits for these results, and uses them.

    Source: SGLang v0.4, the zero-overhead batch scheduler.
    """
    before: list[T] = []
    steps = 0
    while more():
        before.append(launch())
        steps += 1
        if len(before) > 1:
            process(before.pop(0))
    for work in before:
        process(work)
    return steps

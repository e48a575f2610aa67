"""Who works when, by the rules of :mod:`.scheduling`, as bars for charts. Standard library only.

A span is ``(name, start, end)``, seconds. Rows are those of the CPU and of the device.
"""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[str, float, float]
Rows = tuple[list[Span], list[Span]]


def eager_rows(kernel_times: Sequence[float], launch_time: float) -> Rows:
    """Kernels launched one by one: a row of launches and a row of kernels."""
    cpu: list[Span] = []
    device: list[Span] = []
    end = 0.0
    for index, kernel in enumerate(kernel_times):
        launched = (index + 1) * launch_time
        cpu.append(("launch", index * launch_time, launched))
        start = max(end, launched)
        end = start + kernel
        device.append(("kernel", start, end))
    return cpu, device


def graph_rows(kernel_times: Sequence[float], replay_time: float) -> Rows:
    """The same kernels as a graph: one launch, then kernel after kernel."""
    device: list[Span] = []
    end = replay_time
    for kernel in kernel_times:
        device.append(("kernel", end, end + kernel))
        end += kernel
    return [("launch", 0.0, replay_time)] if kernel_times else [], device


def gaps(spans: Sequence[Span], begin: float = 0.0) -> list[Span]:
    """The stretches between ``begin`` and the last end in which a row does nothing."""
    found: list[Span] = []
    for _, start, end in spans:
        if start > begin + 1e-15:
            found.append(("idle", begin, start))
        begin = end
    return found


def with_gaps(rows: Rows) -> Rows:
    """The same rows, with the device's idle time as separate bars."""
    cpu, device = rows
    return cpu, sorted([*device, *gaps(device)], key=lambda span: span[1])


def step_rows(steps: int, schedule: float, compute: float, post: float, overlap: bool = True) -> Rows:
    """Steps of an engine, in turn or overlapped: a row of scheduling and processing, and a row of computing."""
    cpu: list[Span] = []
    device: list[Span] = []
    now = free = 0.0
    for step in range(steps):
        cpu.append(("schedule", now, now + schedule))
        now += schedule
        ended, start = free, max(now, free)
        free = start + compute
        device.append(("compute", start, free))
        if not overlap or step:
            begin = max(now, ended if overlap else free)
            cpu.append(("process", begin, begin + post))
            now = begin + post
    if overlap and steps:
        cpu.append(("process", max(now, free), max(now, free) + post))
    return cpu, device

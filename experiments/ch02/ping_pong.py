"""What a message costs on this machine: a ping-pong between two real ranks.

>>> times = ping_pong()  # doctest: +SKIP
>>> latency, bandwidth = link_of(times)  # doctest: +SKIP

A round trip is timed on one rank's clock, so no two clocks need to agree, and half of it counts as one message. Taking
the median of many trips discounts those in which the machine was busy with something else. The timed region contains
the two messages and what ``world.run`` does to note them, which adds to the latency.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence

import torch
import torch.distributed as dist

from rankzero import checks, world
from rankzero.facts.measured_links import line_through
from rankzero.facts.units import KiB, MiB

#: 4 B to 16 MiB, each four times the previous size.
SIZES = tuple(4**power for power in range(1, 13))

#: Untimed round trips: of each size, and of the first size, which sets up the connections.
WARM_UP, FIRST_WARM_UP = 3, 50


def ping_pong(sizes: Sequence[int] = SIZES, repeats: int = 30) -> dict[int, float]:
    """The time of one message of each size between two ranks, in seconds.

    Args:
        sizes: of the messages, bytes; positive multiples of 4, ascending.
        repeats: timed round trips of a small message; large ones get fewer, but at least 5.

    Raises:
        ValueError: a size is no multiple of 4.
    """
    checks.count(sizes=sizes, repeats=repeats)
    checks.require(not any(size % 4 for size in sizes), "be multiples of 4 bytes", sizes=sizes)
    return dict(zip(sizes, world.run(_all_sizes, sizes, repeats, ranks=2, backend="gloo").values[0], strict=True))


def link_of(times: Mapping[int, float]) -> tuple[float, float]:
    """Start-up (seconds) and bandwidth (bytes/s) of the line ``latency + size / bandwidth`` through its two ends.

    The time of the smallest message is nearly all start-up; what the largest one takes beyond that is due to its bytes.

    Args:
        times: seconds by size, for at least two sizes.

    Raises:
        ValueError: the largest message took no longer than the smallest.
    """
    small, large = min(times), max(times)
    if not times[small] < times[large]:
        raise ValueError(f"times must grow from the smallest size to the largest, got {dict(times)}")
    latency, bandwidth = line_through(times, small)
    return max(0.0, latency), bandwidth


def _all_sizes(sizes: Sequence[int], repeats: int) -> list[float]:
    _one_way(sizes[0], FIRST_WARM_UP)
    return [_one_way(size, _rounds(size, repeats)) for size in sizes]


def _rounds(size: int, repeats: int) -> int:
    """Fewer trips for large messages, whose times are long and steady."""
    return repeats if size <= 64 * KiB else max(5, repeats * MiB // (MiB + size))


def _one_way(size: int, rounds: int) -> float:
    """Median time of half a round trip, on this rank's clock."""
    buffer = torch.zeros(size // 4)
    laps = []
    for lap in range(WARM_UP + rounds):
        start = time.perf_counter()
        if dist.get_rank() == 0:
            dist.send(buffer, 1)
            dist.recv(buffer, 1)
        else:
            dist.recv(buffer, 0)
            dist.send(buffer, 0)
        laps += [time.perf_counter() - start] if lap >= WARM_UP else []
    return statistics.median(laps) / 2

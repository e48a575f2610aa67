from __future__ import annotations

from .alpha_beta import message_time


def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):
    if type(ranks) is not int or ranks < 1:
        raise ValueError(f"ranks must be an integer >= 1, got {ranks!r}")
    step = message_time(message_bytes / ranks, bandwidth, latency)
    return 2 * (ranks - 1) * step

"""What the two naive all-reduces of :mod:`experiments.ch03.naive_all_reduces` cost in time. Standard library only."""

from __future__ import annotations

from rankzero import checks


def whole_ring_all_reduce_time(message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
    """Time of an all-reduce that passes whole tensors around the ring, in seconds.

    ``ranks - 1`` steps that move ``message_bytes`` each. Arguments as in :func:`.collective_cost.ring_all_reduce_time`.
    """
    checks.count(ranks=ranks)
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    return (ranks - 1) * (latency + message_bytes / bandwidth)


def star_all_reduce_time(message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
    """Time of an all-reduce through rank 0, in seconds.

    The link of rank 0 takes in ``ranks - 1`` tensors, one after the other, and then sends out as many. Arguments as in
    :func:`.collective_cost.ring_all_reduce_time`.
    """
    checks.count(ranks=ranks)
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    return 2 * (ranks - 1) * (latency + message_bytes / bandwidth)

# Generated from solutions/ch04/bandwidth.py by make stubs. Write the bodies; names and signatures stay.
"""Measured bandwidths, a fitted link, and communication against compute. Standard library only.

>>> from rankzero.facts.units import GB, ms
>>> round(bus_bandwidth("all_reduce", 4 * GB, 30 * ms, ranks=8) / GB, 3)
233.333
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero import checks

#: Operations that :func:`bus_bandwidth` knows.
MEASURED = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce")


def bus_bandwidth(operation: str, message_bytes: float, seconds: float, ranks: int) -> float:
    """Bandwidth that the busiest wire carried if the algorithm was bandwidth-optimal, in bytes/s.

    S / t, which is what the user gets, times what a bandwidth-optimal algorithm moves over a rank's wire for each byte
    of S: 2(N-1)/N for all-reduce; (N-1)/N for all-gather, reduce-scatter and all-to-all; 1 for broadcast and reduce.

    Args:
        operation: ``all_reduce``, ``all_gather``, ``reduce_scatter``, ``all_to_all``, ``broadcast`` or ``reduce``.
        message_bytes: S, the full tensor (all-gather's output, reduce-scatter's input), bytes; not negative.
        seconds: t, the measured time of one operation; positive.
        ranks: N, at least 1. One rank moves nothing: 0.0, but for broadcast and reduce, whose factor is always 1.

    Source: nccl-tests, doc/PERFORMANCE.md.
    """
    checks.one_of(MEASURED, operation=operation)
    checks.amount(message_bytes=message_bytes)
    checks.positive(seconds=seconds)
    checks.count(ranks=ranks)
    raise NotImplementedError("04-bus-bandwidth: not written yet")


def fit_alpha_beta(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """Latency and bandwidth of ``t = latency + m / bandwidth``, fitted to measured times.

    The pair that minimizes the sum of squared *relative* errors, ``((latency + m/bandwidth - t) / t)**2``: an error of
    one percent weighs the same in a microsecond and in a second.

    Args:
        sizes: message sizes m, bytes; not negative, at least two different ones.
        seconds: the time t of each, as many as sizes; positive. By and large they grow with the size, so that the
            bandwidth comes out positive.

    Returns:
        ``(latency, bandwidth)``, seconds and bytes/s. The latency may come out negative.
    """
    checks.amount(sizes=sizes)
    checks.positive(seconds=seconds)
    checks.require(len(set(sizes)) >= 2, "hold two different sizes", sizes=sizes)
    checks.require(len(seconds) == len(sizes), "be as many as sizes", seconds=seconds)
    raise NotImplementedError("04-fit-alpha-beta: not written yet")


def communication_ratio(gradient_bytes: float, ranks: int, bandwidth: float, flops: float, rate: float) -> float:
    """Time of a ring all-reduce of the gradients over the compute time of one step.

    Args:
        gradient_bytes: gradients on each rank, bytes; not negative.
        ranks: N, processes in the ring; at least 1 (one rank communicates nothing: 0.0).
        bandwidth: of one link of the ring, one direction, bytes/s; positive.
        flops: work of one rank in one step, FLOP; positive.
        rate: FLOP/s that a rank achieves (not its peak); positive.
    """
    checks.amount(gradient_bytes=gradient_bytes)
    checks.count(ranks=ranks)
    checks.positive(bandwidth=bandwidth, flops=flops, rate=rate)
    raise NotImplementedError("04-communication-ratio: not written yet")


def debug_gbit(size_mb: float, ranks: int, bandwidth_gbps: float) -> float:
    """Time of one ring all-reduce without latency, in seconds, from a size and a rate as a web form takes them.

    Args:
        size_mb: the tensor on each rank, in MB (10**6 bytes); not negative.
        ranks: processes in the ring; at least 1.
        bandwidth_gbps: of one link, one direction, in Gb/s (10**9 bits per second); positive.
    """
    checks.amount(size_mb=size_mb)
    checks.count(ranks=ranks)
    checks.positive(bandwidth_gbps=bandwidth_gbps)
    size_gb = size_mb / 1024
    return 2 * (ranks - 1) / ranks * size_gb / bandwidth_gbps

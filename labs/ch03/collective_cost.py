# Generated from solutions/ch03/collective_cost.py by make stubs. Write the bodies; names and signatures stay.
"""What a collective costs: bytes per rank, and the time of an all-reduce. Standard library only.

S, ``message_bytes``, is always the full tensor: the input of all-reduce, reduce-scatter and one rank's all-to-all, the
output of all-gather, and what the root holds in scatter and gather.

>>> from rankzero.facts.units import GB, ms
>>> round(ring_all_reduce_time(2 * GB, ranks=8, bandwidth=50 * GB) / ms, 6)
70.0
"""

from __future__ import annotations

from rankzero import checks

OPERATIONS = ("broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all")


def traffic(operation: str, message_bytes: float, ranks: int, rank: int, root: int = 0) -> tuple[float, float]:
    """Bytes that one rank sends and receives in one collective, under a bandwidth-optimal algorithm.

    All-gather, reduce-scatter and all-to-all move (N-1)/N of S each way; an all-reduce costs as much as two of them.
    Broadcast is a chain root, root+1, ...; reduce is a chain root+1, root+2, ..., root. Scatter and gather go straight
    to and from the root. One rank alone moves nothing.

    Args:
        operation: one of ``broadcast``, ``scatter``, ``gather``, ``all_gather``, ``reduce``, ``all_reduce``,
            ``reduce_scatter``, ``all_to_all``.
        message_bytes: S, the full tensor, bytes; not negative.
        ranks: N, processes in the group; at least 1.
        rank: the rank whose bytes are returned, from 0 to ``ranks - 1``.
        root: the root of broadcast, reduce, scatter and gather, from 0 to ``ranks - 1``; always a valid rank.

    Returns:
        ``(sent, received)``, bytes.

    Source: nccl-tests, doc/PERFORMANCE.md (factors 2(n-1)/n and (n-1)/n).
    """
    checks.one_of(OPERATIONS, operation=operation)
    checks.amount(message_bytes=message_bytes)
    checks.count(ranks=ranks)
    checks.count(0, ranks - 1, rank=rank, root=root)
    raise NotImplementedError("03-traffic: not written yet")


def ring_all_reduce_time(message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
    """Time of one ring all-reduce, in seconds.

    A reduce-scatter and an all-gather, each of ``ranks - 1`` steps that move ``message_bytes / ranks``.

    Args:
        message_bytes: size of the tensor on each rank, bytes; not negative.
        ranks: processes in the ring; at least 1 (one rank has nothing to send, so the time is 0).
        bandwidth: of one link, one direction, bytes/s; positive.
        latency: start-up cost of one step (alpha), seconds; not negative.

    Source: Patarasuk and Yuan (2009), doi:10.1016/j.jpdc.2008.09.002.
    """
    checks.count(ranks=ranks)
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    raise NotImplementedError("03-ring-all-reduce-time: not written yet")


def debug_double(message_bytes: float, ranks: int, bandwidth: float) -> float:
    """Time of one ring all-reduce without latency, in seconds: both phases, each of ``ranks - 1`` steps.

    Args:
        message_bytes: size of the tensor on each rank, bytes; not negative.
        ranks: processes in the ring; at least 1.
        bandwidth: of one link, one direction, bytes/s; positive.
    """
    checks.count(ranks=ranks)
    checks.amount(message_bytes=message_bytes)
    checks.positive(bandwidth=bandwidth)
    steps = 2 * (ranks - 1)
    return 2 * steps * (message_bytes / ranks) / bandwidth

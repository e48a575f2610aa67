# Generated from solutions/ch02/alpha_beta.py by make stubs. Write the bodies; names and signatures stay.
"""The time of a message (a start-up, then bytes over bandwidth) and of a chain of messages. Standard library only.

>>> from rankzero.facts.units import GB, MB, us
>>> round(message_time(1 * MB, bandwidth=50 * GB, latency=5 * us) / us, 6)
25.0
"""

from __future__ import annotations

from rankzero import checks


def message_time(message_bytes: float, bandwidth: float, latency: float = 0.0) -> float:
    """Time of one message over one link, in seconds: its start-up, then its bytes.

    A message of ``latency * bandwidth`` bytes spends half of its time starting up.

    Args:
        message_bytes: size of the message, bytes; not negative. An empty message costs the latency.
        bandwidth: of the link, one direction, bytes/s; positive.
        latency: start-up of one message (alpha), seconds; not negative.

    Source: Hockney (1994), doi:10.1016/S0167-8191(06)80021-9.
    """
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    raise NotImplementedError("02-message-time: not written yet")


def relay_time(message_bytes: float, hops: int, chunks: int, bandwidth: float, latency: float = 0.0) -> float:
    """Time until the last rank of a chain has the whole message, in seconds.

    The message is cut into ``chunks`` equal parts. Every rank passes a chunk on once it has all of it, and receives the
    next chunk meanwhile. So the last chunk leaves after ``chunks - 1`` steps and arrives ``hops`` steps later.

    Args:
        message_bytes: size of the whole message, bytes; not negative.
        hops: links from the first rank to the last; not negative. Without hops the first rank is the last, and the
            time is 0.
        chunks: parts of the message; at least 1.
        bandwidth: of one link, one direction, bytes/s; positive.
        latency: start-up of one chunk on one link (alpha), seconds; not negative.

    Source: Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001, section 2.
    """
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    checks.count(0, hops=hops)
    checks.count(chunks=chunks)
    raise NotImplementedError("02-relay-time: not written yet")


def best_chunks(message_bytes: float, hops: int, bandwidth: float, latency: float, limit: int = 4096) -> int:
    """The number of chunks with the smallest :func:`relay_time`; the smaller one when two are equal.

    More chunks keep more links busy, but each chunk pays the start-up on every link. The two effects balance near
    ``sqrt((hops - 1) * message_bytes / (latency * bandwidth))``.

    Args:
        message_bytes: size of the whole message, bytes; not negative. Nothing to send needs one chunk.
        hops: links from the first rank to the last; not negative. With 1 or none, nothing overlaps: one chunk, even if
            rounding makes the time of some other number a little smaller.
        bandwidth: of one link, one direction, bytes/s; positive.
        latency: start-up of one chunk on one link (alpha), seconds; not negative. Without it, more is always better.
        limit: the largest number that is allowed; at least 1.

    Returns:
        A number from 1 to ``limit``.

    Source: Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001, section 2.
    """
    checks.amount(message_bytes=message_bytes, latency=latency)
    checks.positive(bandwidth=bandwidth)
    checks.count(0, hops=hops)
    checks.count(limit=limit)
    raise NotImplementedError("02-best-chunks: not written yet")

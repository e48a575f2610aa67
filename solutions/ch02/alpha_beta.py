"""The time of a message (a start-up, then bytes over bandwidth) and of a chain of messages. Standard library only.

>>> from rankzero.facts.units import GB, MB, us
>>> round(message_time(1 * MB, bandwidth=50 * GB, latency=5 * us) / us, 6)
25.0
"""

from __future__ import annotations

import math


def message_time(message_bytes: float, bandwidth: float, latency: float = 0.0) -> float:
    """Time of one message over one link, in seconds: ``latency + message_bytes / bandwidth``.

    A message of ``latency * bandwidth`` bytes spends half of its time starting up.

    Args:
        message_bytes: size of the message, bytes; not negative. An empty message costs the latency.
        bandwidth: of the link, one direction, bytes/s; positive.
        latency: start-up of one message (alpha), seconds; not negative.

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.

    Source: Hockney (1994), doi:10.1016/S0167-8191(06)80021-9.
    """
    _check_link(message_bytes, bandwidth, latency)
    return latency + message_bytes / bandwidth


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

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.

    Source: Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001, section 2.
    """
    _check_link(message_bytes, bandwidth, latency)
    _check_count("hops", hops, 0)
    _check_count("chunks", chunks, 1)
    if hops == 0:
        return 0.0
    return (hops + chunks - 1) * (latency + message_bytes / (chunks * bandwidth))


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

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.

    Source: Sanders, Speck and Traeff (2009), doi:10.1016/j.parco.2009.09.001, section 2.
    """
    _check_link(message_bytes, bandwidth, latency)
    _check_count("hops", hops, 0)
    _check_count("limit", limit, 1)
    transfer = message_bytes / bandwidth
    if hops <= 1 or transfer == 0:
        return 1
    if latency == 0:
        return limit
    ideal = math.sqrt((hops - 1) * transfer / latency)
    below = int(min(max(ideal, 1), limit))  # the time falls up to the ideal and rises after it: one of two is best
    near = (below, min(below + 1, limit))
    return min(near, key=lambda chunks: relay_time(message_bytes, hops, chunks, bandwidth, latency))


def _check_link(message_bytes: float, bandwidth: float, latency: float) -> None:
    """Raise a ValueError for a size, bandwidth or latency that is out of range."""
    if not 0 <= message_bytes < math.inf:
        raise ValueError(f"message_bytes must be a finite number >= 0, got {message_bytes!r}")
    if not 0 < bandwidth < math.inf:
        raise ValueError(f"bandwidth must be a finite number > 0, got {bandwidth!r}")
    if not 0 <= latency < math.inf:
        raise ValueError(f"latency must be a finite number >= 0, got {latency!r}")


def _check_count(name: str, value: int, least: int) -> None:
    """Raise a ValueError unless ``value`` is an integer of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}")

"""A tensor passed down a chain of real ranks in chunks and timed: with blocking calls, and with two buffers in flight.

>>> relay_seconds({"blocking": blocking_relay, "double-buffered": chunked_relay})["blocking"][8]  # doctest: +SKIP

The times are compared with the formula ``relay_time`` or, for blocking calls, :func:`blocking_relay_time`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
import torch.distributed as dist

from rankzero import checks, world
from rankzero.events import Event
from rankzero.facts.units import MiB
from solutions.ch02.alpha_beta import message_time

from .overlap import Timeline, laps_of

#: A function that brings rank 0's 1-D tensor to every rank, in the given number of chunks.
Way = Callable[[torch.Tensor, int], torch.Tensor]

#: The numbers of chunks to try.
CHUNKS = (1, 2, 4, 8, 16, 32, 64)

HEAD_START = 0.005  # seconds that rank 0 gives the others to start receiving


def blocking_relay(x: torch.Tensor, chunks: int) -> torch.Tensor:
    """Bring rank 0's tensor to every rank along the chain, with calls that block: receive a chunk, then pass it on.

    Args:
        x: 1-D. Rank 0's tensor travels; on the other ranks ``x`` only gives the length and type. It is not changed.
        chunks: parts of the tensor, the same number on every rank; at least 1.

    Returns:
        Rank 0's tensor, as a new tensor on every rank.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = x.clone() if rank == 0 else x.new_empty(x.shape)
    for part in whole.tensor_split(chunks):
        if part.numel() and rank > 0:
            dist.recv(part, rank - 1)
        if part.numel() and rank < ranks - 1:
            dist.send(part, rank + 1)
    return whole


def blocking_relay_time(message_bytes: float, hops: int, chunks: int, bandwidth: float, latency: float = 0.0) -> float:
    """Time until the last rank of a chain of blocking calls has the whole message, in seconds.

    A middle rank cannot receive while it sends, so each chunk follows the previous one two steps later: ``hops + 2 *
    (chunks - 1)`` steps in all. With one hop there is no middle rank, and it takes ``chunks`` steps.

    Args:
        message_bytes: size of the whole message, bytes; not negative.
        hops: links from the first rank to the last; with 0 hops the first rank is the last, and the time is 0.
        chunks: parts of the message; at least 1.
        bandwidth: of one link, one direction, bytes/s; positive.
        latency: start-up of one chunk on one link (alpha), seconds; not negative.
    """
    checks.count(0, hops=hops)
    checks.count(chunks=chunks)
    gap = min(hops, 2)  # steps from one chunk to the next
    return (hops + gap * (chunks - 1)) * message_time(message_bytes / chunks, bandwidth, latency)


def relay_seconds(
    ways: Mapping[str, Way],
    message_bytes: int = 16 * MiB,
    chunks: Sequence[int] = CHUNKS,
    ranks: int = 4,
    rounds: int = 3,
) -> dict[str, dict[int, float]]:
    """How long each way takes for each number of chunks, in seconds, according to the event log.

    The clock runs from rank 0's first send until the last rank's last receive.

    Args:
        ways: the functions to time, by name.
        message_bytes: size of the tensor, bytes; a positive multiple of 4.
        chunks: numbers of chunks to try.
        ranks: in the chain; at least 2.
        rounds: timed relays for each number of chunks, of which the median is reported.
    """
    plan = []
    for name in ways:
        plan += [(name, 1), *((name, k) for k in chunks for _ in range(rounds))]  # the first is a warm-up
    run = world.run(_relay_all, dict(ways), plan, message_bytes // 4, ranks=ranks, backend="gloo")
    laps = iter(laps_of(run.events, ranks))
    seconds: dict[str, dict[int, float]] = {}
    for name in ways:
        next(laps)
        seconds[name] = {k: statistics.median(_seconds(next(laps).events) for _ in range(rounds)) for k in chunks}
    return seconds


def relay_timeline(way: Way, message_bytes: int = 16 * MiB, chunks: int = 4, ranks: int = 4) -> Timeline:
    """The messages of one relay, after a warm-up, on a clock that starts with rank 0's first send.

    Args:
        way: the function that relays the tensor.
        message_bytes: size of the tensor, bytes; a positive multiple of 4.
        chunks: parts of it.
        ranks: in the chain; at least 2.
    """
    run = world.run(_relay_all, {"": way}, [("", chunks)] * 2, message_bytes // 4, ranks=ranks, backend="gloo")
    events = laps_of(run.events, ranks)[-1].events
    start = _start(events)
    moved = [replace(event, start=max(0.0, event.start - start), end=event.end - start) for event in events]
    return Timeline(_seconds(events), tuple(moved))


def staircase(
    relay: Callable[[float, float], float], value: float, increment: float, ranks: int = 4, rounds: int = 20
) -> Timeline:
    """A number passed down the chain, on a clock that starts with rank 0's send: the round that was disturbed least.

    After a barrier rank 0 waits until the others can have called ``recv``. Of the rounds in which they really have, or
    of all if there is none, the shortest is returned.

    Args:
        relay: passes the number on, as the exercise ``02-relay`` does.
        value: what rank 0 starts with.
        increment: what every other rank adds.
        ranks: in the chain; at least 2.
        rounds: at least 1.
    """
    run = world.run(_relay_often, relay, value, increment, rounds, ranks=ranks, backend="gloo")
    laps = [lap.events for lap in laps_of(run.events, ranks)]
    events = min(laps, key=lambda events: (not _all_wait(events), _seconds(events)))
    start = _start(events)
    moved = [replace(event, start=max(0.0, event.start - start), end=event.end - start) for event in events]
    return Timeline(_seconds(events), tuple(moved))


def _relay_often(relay: Callable[[float, float], float], value: float, increment: float, rounds: int) -> None:
    for _ in range(rounds):
        dist.barrier()
        if dist.get_rank() == 0:
            time.sleep(HEAD_START)
        relay(value, increment)


def _all_wait(events: Sequence[Event]) -> bool:
    """Whether every receive began before the first send."""
    return all(event.start < _start(events) for event in events if event.operation == "recv")


def _relay_all(ways: Mapping[str, Way], plan: Sequence[tuple[str, int]], elements: int) -> None:
    """Run each relay of the plan, each one after a barrier."""
    x = torch.zeros(elements)
    for name, chunks in plan:
        dist.barrier()
        ways[name](x, chunks)


def _start(events: Sequence[Event]) -> float:
    return min(event.start for event in events if event.operation == "send")


def _seconds(events: Sequence[Event]) -> float:
    return max(event.end for event in events if event.operation == "recv") - _start(events)

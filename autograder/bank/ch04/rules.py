"""Chapter 04: what a run on real ranks must keep to besides its values: the form of a tree, one meeting before a clock.

A rule sees the case, each rank's value and the events of all ranks; it returns a sentence or None.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from autograder.items import Case
from rankzero.events import Event

#: How much less than the sum of its calls a time may be, for the rounding of clocks.
ROUNDING = 1 - 1e-6
#: Seconds for which a busy host may hold up a process between its last call and the moment when it reads the clock.
PAUSE = 2.0


def tree_messages(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """2(N-1) messages at most, each of the whole tensor; at rank 0 at most one each way for each level."""
    ranks, size = len(case.args), len(case.args[0][0].data)
    sends = [event for event in events if event.operation == "send"]
    if any(event.sent != size for event in sends):
        return f"a message is not the whole tensor of {size:,} bytes: a tree passes it on uncut"
    if len(sends) > 2 * (ranks - 1):
        return (
            f"{len(sends)} messages were sent by {ranks} ranks; a tree needs one up and one down for each but the root"
        )
    levels = (ranks - 1).bit_length()
    for way, count in (("sent", _count(sends, 0)), ("received", sum(event.peers[0] == 0 for event in sends))):
        if count > levels:
            return f"rank 0 {way} {count} messages; a binomial tree of {ranks} ranks has {levels} levels"
    return None


def tree_levels(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """No message waits for more than 2 ceil(log2 N) - 1 others."""
    levels = (len(case.args) - 1).bit_length()
    longest = max(_depths(events), default=0)
    if longest <= 2 * levels:
        return None
    return f"{longest} messages wait for one another; up and down a binomial tree there are {2 * levels}"


def one_meeting(case: Case, values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """The ranks meet, then all-reduces follow one another, and the time is that of one, up to a pause of the host.

    The ranks may also meet after the last one, inside the clock or outside: one clock runs between two meetings.
    """
    for rank, (_, calls) in enumerate(case.args):
        mine = [event for event in events if event.rank == rank]
        last = mine[-1] if mine else None
        if last and last.operation == "barrier":
            mine = mine[:-1]
        timed, before = mine[max(len(mine) - calls, 0) :], mine[: max(len(mine) - calls, 0)]
        if last is None or any(event.operation != "all_reduce" for event in timed) or len(timed) < calls:
            return "other operations run between the timed all-reduces and are timed with them"
        if not before:
            return "the ranks did not meet before the first timed all-reduce"
        if values[rank] * calls < ROUNDING * sum(event.end - event.start for event in timed):
            return f"the time that rank {rank} returned is shorter than its all-reduces took"
        if not values[rank] * calls <= last.end - before[-1].end + PAUSE:
            return f"{calls} times what rank {rank} returned is longer than the whole run: return the mean, in seconds"
    return None


def _count(sends: Sequence[Event], rank: int) -> int:
    return sum(event.rank == rank for event in sends)


def _depths(events: Sequence[Event]) -> list[int]:
    """For each message, the length of the longest chain of messages that ends with it.

    A message waits for those that its sender had received before it called send.
    """
    sends, receives = defaultdict(list), defaultdict(list)
    for event in events:
        if event.operation == "send":
            sends[event.rank, event.peers[0]].append(event)
        elif event.operation == "recv":
            receives[event.peers[0], event.rank].append(event)
    pairs = [pair for way, sent in sends.items() for pair in zip(sent, receives[way], strict=False)]
    arrived: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for sent, received in sorted(pairs, key=lambda pair: pair[1].end):
        before = [depth for end, depth in arrived[sent.rank] if end <= sent.start]
        arrived[received.rank].append((received.end, 1 + max(before, default=0)))
    return [depth for depths in arrived.values() for _, depth in depths]

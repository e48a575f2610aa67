"""Chapter 02: what a run must keep to besides its values: how many messages, of which size, and what overlaps.

A rule sees the case, each rank's value and the events of all ranks; it returns a sentence or None.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from autograder.items import Case, Tensor
from rankzero.events import Event


def calls(events: Sequence[Event], rank: int, operation: str) -> list[Event]:
    """The calls of one operation by one rank, in the order in which it made them."""
    return sorted((e for e in events if (e.rank, e.operation) == (rank, operation)), key=lambda event: event.start)


def relay_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every rank but the last sends one message of 8 bytes to the next."""
    for rank in range(len(case.args)):
        sent = [(event.peers, event.sent) for event in calls(events, rank, "send")]
        if sent != [((rank + 1,), 8)] * (rank < len(case.args) - 1):
            total = sum(size for _, size in sent)
            return (
                f"rank {rank} sent {_messages(len(sent))}, {total} bytes in all; every rank but the last sends 8 bytes"
            )
    return None


def shift_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """One message per rank, straight to its place; none where a tensor stays."""
    ranks = len(case.args)
    x, distance = case.args[0][0], case.args[0][1] if len(case.args[0]) > 1 else 1
    for rank in range(ranks):
        sent = calls(events, rank, "send")
        if distance % ranks == 0 and sent:
            return f"rank {rank} sent {_messages(len(sent))}; with this distance every rank keeps its own tensor"
        if not x.data and sent:
            return f"rank {rank} sent {_messages(len(sent))}; its tensor has no elements, so there is nothing to send"
        if len(sent) > 1:
            return f"rank {rank} sent {len(sent)} messages; one is enough, whatever the distance"
        if sent and sum(event.sent for event in sent) != len(x.data):
            return f"rank {rank} sent {sent[0].sent:,} bytes; its tensor has {len(x.data):,}"
    return None


def shifted(case: Case) -> int:
    """Bytes that come to each rank in a shift: its neighbour's tensor, or nothing after whole turns."""
    x, distance = case.args[0][0], case.args[0][1] if len(case.args[0]) > 1 else 1
    return len(x.data) if distance % len(case.args) else 0


def each_boundary_once(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every stage sends one message to the next stage and one to the stage before it."""
    ranks = len(case.args)
    for rank in range(ranks):
        receivers = sorted(event.peers[0] for event in calls(events, rank, "send"))
        due = [peer for peer in (rank - 1, rank + 1) if 0 <= peer < ranks]
        if receivers != due:
            told = " and ".join(f"rank {peer}" for peer in receivers) or "nobody"
            return f"rank {rank} sent to {told}; every boundary is crossed by one message each way"
    return None


def chunk_sizes(x: Tensor, chunks: int) -> list[int]:
    """Bytes of each chunk that ``tensor_split`` makes of a 1-D tensor, without empty ones."""
    elements = x.shape[0]
    size = len(x.data) // elements if elements else 0
    parts = [elements // chunks + (part < elements % chunks) for part in range(min(chunks, elements))]
    return [size * part for part in parts]


def chunk_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every rank but the last sends every chunk once, to the next rank."""
    x, chunks = case.args[0]
    sizes = chunk_sizes(x, chunks)
    for rank in range(len(case.args)):
        sent = [event.sent for event in calls(events, rank, "send")]
        due = sizes if rank < len(case.args) - 1 else []
        if sent != due:
            return (
                f"rank {rank} sent {_messages(len(sent))}, {sum(sent):,} bytes in all; {_messages(len(due))}, "
                f"{sum(due):,} bytes in all, are due: the chunks of tensor_split, in order"
            )
    return None


def chunks_overlap(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every middle rank posts the receive of the next chunk before the send of the last one is over."""
    for rank in range(1, len(case.args) - 1):
        sends, receives = calls(events, rank, "send"), calls(events, rank, "recv")
        for number, (sending, following) in enumerate(zip(sends, receives[1:], strict=False)):
            if following.start > sending.end:
                return (
                    f"rank {rank} sent chunk {number} and only then posted the receive of chunk {number + 1}: nothing "
                    "arrives meanwhile"
                )
    return None


def told_when_ready(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every rank posts its receive, then sends to rank 0, which answers what it has received."""
    for rank in range(1, len(case.args)):
        posted, told = calls(events, rank, "recv")[:1], calls(events, rank, "send")[:1]
        heard = [event for event in calls(events, 0, "recv") if event.peers == (rank,)][:1]
        answered = [event for event in calls(events, 0, "send") if event.peers == (rank,)][:1]
        if not (told and heard):
            return f"rank {rank} did not tell rank 0 that it is ready"
        if not posted or posted[0].start > told[0].start:
            return f"rank {rank} told rank 0 that it is ready before it had posted its receive"
        if not answered or answered[0].start < heard[0].end:
            return f"rank 0 sent to rank {rank} before it had heard that rank {rank} is ready"
    return None


def blocking_calls(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """A rank makes no call before the one before has ended."""
    for rank in range(len(case.args)):
        mine = sorted((event for event in events if event.rank == rank), key=lambda event: event.start)
        for first, second in pairwise(mine):
            if second.start < first.end:
                return (
                    f"rank {rank} called {second.operation} before its {first.operation} had ended: use blocking calls"
                )
    return None


def _messages(count: int) -> str:
    return f"{count or 'no'} message{'s' * (count != 1)}"

"""Rules for world runs that go beyond the values: which operations, how many messages, how many bytes.

A rule gets the case, each rank's value and the events of all ranks; it returns a sentence if it is broken, else None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.items import Case, Rule, Tensor
from rankzero.events import Event, Ledger


def every(*rules: Rule) -> Rule:
    """All of ``rules``; the sentence is that of the first broken one."""

    def rule(case: Case, values: Sequence[Any], events: Sequence[Event]) -> str | None:
        return next((sentence for each in rules if (sentence := each(case, values, events))), None)

    return rule


def only_messages(_case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """No operation is used but send and receive."""
    other = next((event for event in events if event.operation not in ("send", "recv")), None)
    if other is None:
        return None
    return f"rank {other.rank} called {other.operation}: use only send, recv, isend and irecv"


def no_empty_messages(_case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Empty messages are not sent."""
    empty = next((event for event in events if event.operation == "send" and not event.sent), None)
    return None if empty is None else f"rank {empty.rank} sent a message of 0 bytes: empty messages need not be sent"


def no_barrier(_case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """No barrier is called."""
    barrier = next((event for event in events if event.operation == "barrier"), None)
    return None if barrier is None else f"rank {barrier.rank} called barrier: this task goes without one"


def to_one_neighbour(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """All messages go around the ring in the same direction."""
    ranks = len(case.args)
    sends = [event for event in events if event.operation == "send"]
    ways = ([event for event in sends if event.peers[0] != (event.rank + step) % ranks] for step in (1, -1))
    stray = min(ways, key=len)
    if not stray:
        return None
    return f"rank {stray[0].rank} sent to rank {stray[0].peers[0]}: in a ring all messages go the same way"


def same_bits(_case: Case, values: Sequence[Any], _events: Sequence[Event]) -> str | None:
    """Every rank holds the same bits."""
    held = [value["returned"] if isinstance(value, dict) else value for value in values]
    for rank, value in enumerate(held):
        if value != held[0]:
            return f"ranks 0 and {rank} hold different bits: add each chunk on one rank and copy the result"
    return None


def reduce_scatter_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Each rank sends every chunk except its own, once."""
    ranks = len(case.args)
    ledger = Ledger(events, ranks)
    for rank, (x,) in enumerate(case.args):
        share = len(x.data) - _bytes_of(x, _chunk_sizes(x, ranks)[rank])
        if ledger.sent(rank) != share:
            return (
                f"rank {rank} sent {ledger.sent(rank):,} bytes; every chunk except its own, once, is {share:,} bytes"
                + _times(ledger.sent(rank), share)
            )
    return _too_many_messages(events, ranks, ranks - 1)


def all_gather_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Each rank sends every part except that of the neighbor it sends to."""
    ranks = len(case.args)
    total = sum(len(x.data) for x, _ in case.args)
    ledger = Ledger(events, ranks)
    for event in events:
        share = total - len(case.args[event.peers[0]][0].data)
        if event.operation == "send" and ledger.sent(event.rank) != share:
            return (
                f"rank {event.rank} sent {ledger.sent(event.rank):,} bytes; every part except its neighbor's own is "
                f"{share:,} bytes" + _times(ledger.sent(event.rank), share)
            )
    return _too_many_messages(events, ranks, ranks - 1)


def all_reduce_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Each rank sends at most one chunk in each of 2(N-1) steps."""
    ranks = len(case.args)
    x = case.args[0][0]
    limit = 2 * (ranks - 1) * _bytes_of(x, max(_chunk_sizes(x, ranks)))
    ledger = Ledger(events, ranks)
    for rank in range(ranks):
        if ledger.sent(rank) > limit:
            return (
                f"rank {rank} sent {ledger.sent(rank):,} bytes; one chunk in each of 2(N-1) steps is {limit:,} bytes"
                + _times(ledger.sent(rank), limit)
                + ": the whole tensor goes around"
            )
    return _too_many_messages(events, ranks, 2 * (ranks - 1))


def all_to_all_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Each rank sends its blocks for the others, and at most 8 bytes to each of them for the count."""
    ranks = len(case.args)
    ledger = Ledger(events, ranks)
    for rank, (blocks,) in enumerate(case.args):
        limit = sum(8 + len(block.data) for peer, block in enumerate(blocks) if peer != rank)
        if ledger.sent(rank) > limit:
            return (
                f"rank {rank} sent {ledger.sent(rank):,} bytes; a count for each other rank and its blocks are "
                f"{limit:,} bytes" + _times(ledger.sent(rank), limit)
            )
    return _too_many_messages(events, ranks, 2 * (ranks - 1))


def blocks_for(case: Case) -> list[int]:
    """Bytes that each rank must receive: the others' blocks for it, and a count of at least 4 bytes from each."""
    needs = [0] * len(case.args)
    for rank, (blocks,) in enumerate(case.args):
        for peer, block in enumerate(blocks):
            needs[peer] += 4 + len(block.data) if peer != rank else 0
    return needs


def other_parts(case: Case) -> list[int]:
    """Bytes of the parts that each rank must receive: all but its own."""
    sizes = [len(x.data) for x, _ in case.args]
    return [sum(sizes) - size for size in sizes]


def frugal(calls: int, sent: int, why: str) -> Rule:
    """Each rank calls at most ``calls`` operations and hands in at most ``sent`` bytes; ``why`` ends the sentence."""

    def rule(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
        ledger = Ledger(events, len(case.args))
        for rank in range(len(case.args)):
            if ledger.calls(rank) > calls:
                return f"rank {rank} called {ledger.calls(rank)} operations: {why}"
            if ledger.sent(rank) > sent:
                return f"rank {rank} handed in {ledger.sent(rank):,} bytes: {why}"
        return None

    return rule


def _too_many_messages(events: Sequence[Event], ranks: int, limit: int) -> str | None:
    for rank in range(ranks):
        count = sum(event.operation == "send" and event.rank == rank for event in events)
        if count > limit:
            return f"rank {rank} sent {count} messages to {ranks} ranks; {limit} are enough"
    return None


def _chunk_sizes(x: Tensor, ranks: int) -> list[int]:
    """The number of elements in each chunk of ``tensor_split``."""
    elements = 1
    for size in x.shape:
        elements *= size
    return [elements // ranks + (rank < elements % ranks) for rank in range(ranks)]


def _bytes_of(x: Tensor, elements: int) -> int:
    """Bytes of this many elements of the type of ``x``."""
    total = sum(_chunk_sizes(x, 1))
    return elements * (len(x.data) // total) if total else 0


def _times(sent: int, share: int) -> str:
    return f", {sent / share:.3g} times that" if share and sent > share else ""

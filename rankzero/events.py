"""What a run did: one event for each operation a rank called, and a ledger that adds up their bytes.

Real worlds (:mod:`rankzero.world`), the grader's broker and every simulator emit the same events, so that one figure or
one rule works for all of them. An event is the *logical* operation, the one the program called, with the bytes it
passed in and the bytes it got back; how the library moved those bytes is not recorded.

========================  ==============================  ==============================
operation (S: full size)  bytes sent                      bytes received
========================  ==============================  ==============================
send, isend               the message                     0
recv, irecv               0                               the message
all_reduce                S                               S
broadcast                 S on the root, else 0           0 on the root, else S
reduce                    S                               S on the root, else 0
all_gather                S / N                           S
gather                    S / N                           S on the root, else 0
reduce_scatter            S                               S / N
scatter                   S on the root, else 0           S / N
all_to_all                S                               S
barrier                   0                               0
========================  ==============================  ==============================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One operation of one rank.

    Attributes:
        rank: global rank of the process that called it.
        operation: the usual name: ``send``, ``recv``, ``all_reduce``, ``all_gather`` ...; an asynchronous ``isend`` or
            ``irecv`` is recorded as ``send`` or ``recv``, from its call to the end of its ``wait``. Simulators add
            names of their own, such as ``forward``.
        peers: global ranks on the other side: the one peer of a message, or all members of a collective's group.
        sent: bytes this rank passed in.
        received: bytes this rank got back.
        start: seconds from the start of the run to the call.
        end: seconds from the start of the run to the completion of the operation.
        root: global rank of the root, for the operations that have one.
        where: the caller's line, ``"cell line 4"`` or ``"line 12 of ring.py"``; in simulations usually empty.
    """

    rank: int
    operation: str
    peers: tuple[int, ...]
    sent: int
    received: int
    start: float = 0.0
    end: float = 0.0
    root: int | None = None
    where: str = ""


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: the number of calls, and the bytes they sent and received."""

    calls: int
    sent: int
    received: int


class Ledger(Mapping[tuple[int, str], Entry]):
    """Bytes by rank and operation: ``ledger[2, "send"].sent`` is the number of bytes that rank 2 sent in messages."""

    def __init__(self, events: Iterable[Event], ranks: int) -> None:
        self.ranks = ranks
        self._entries: dict[tuple[int, str], Entry] = {}
        for event in events:
            key = (event.rank, event.operation)
            old = self._entries.get(key, Entry(0, 0, 0))
            self._entries[key] = Entry(old.calls + 1, old.sent + event.sent, old.received + event.received)

    def __getitem__(self, key: tuple[int, str]) -> Entry:
        return self._entries[key]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations that occur, in alphabetical order."""
        return tuple(sorted({operation for _, operation in self._entries}))

    def sent(self, rank: int) -> int:
        """Bytes that ``rank`` sent, over all operations."""
        return sum(entry.sent for (owner, _), entry in self._entries.items() if owner == rank)

    def received(self, rank: int) -> int:
        """Bytes that ``rank`` received, over all operations."""
        return sum(entry.received for (owner, _), entry in self._entries.items() if owner == rank)

    def calls(self, rank: int) -> int:
        """Number of operations that ``rank`` called."""
        return sum(entry.calls for (owner, _), entry in self._entries.items() if owner == rank)

    def __str__(self) -> str:
        rows = [("rank", "operation", "calls", "sent", "received")]
        rows += [(str(r), op, str(e.calls), f"{e.sent:,}", f"{e.received:,}") for (r, op), e in self.items()]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = []
        for row in rows:
            cells = [row[0].rjust(widths[0]), row[1].ljust(widths[1])]
            cells += [row[i].rjust(widths[i]) for i in (2, 3, 4)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

"""Finds the operation of a world to carry out next, quickly even if many are open.

The rule: go through the open operations by rank, and for each rank in the order of its calls, and take the first that
can be carried out. Of the messages from one rank to another with the same group and tag, only the oldest can be
delivered, to the oldest receive that accepts it; of a rank's collectives in one group, only the oldest can meet those
of the others. It is therefore enough to look at the oldest of each sort when something is added or carried out.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable

from autograder.running.operations import ANYONE, COLLECTIVES, Operation


class OpenOperations:
    """The operations of a world that are not carried out yet."""

    def __init__(self) -> None:
        self._queues: defaultdict[Hashable, deque[Operation]] = defaultdict(deque)
        self._candidates: list[tuple[int, int, Operation]] = []  # a heap; some of them have been carried out since

    def add(self, operation: Operation) -> None:
        """Add an operation that a rank has just called."""
        self._queues[_key(operation)].append(operation)
        if operation.kind == "recv":
            senders = operation.members if operation.peer == ANYONE else (operation.peer,)
            self._consider(
                self._oldest(("send", operation.group, operation.tag, sender, operation.rank)) for sender in senders
            )
        else:
            self._consider([operation])

    def next(self) -> tuple[Operation, ...]:
        """Remove and return the operations to carry out together next; empty if there are none.

        They are a send and its receive, or all calls of a collective in the order of its group.
        """
        while self._candidates:
            *_, operation = heapq.heappop(self._candidates)
            together = self._partners(operation)
            if together:
                self._take(together)
                return together
        return ()

    def _oldest(self, key: Hashable) -> Operation | None:
        queue = self._queues.get(key)
        return queue[0] if queue else None

    def _consider(self, operations: Iterable[Operation | None]) -> None:
        """Make candidates of those that are the oldest of their sort and have all their partners."""
        for operation in operations:
            together = self._partners(operation) if operation else ()
            if operation and together:
                first = min(together, key=lambda one: one.rank) if operation.kind in COLLECTIVES else operation
                heapq.heappush(self._candidates, (first.rank, first.handle, first))

    def _partners(self, operation: Operation) -> tuple[Operation, ...]:
        """``operation`` with those it would be carried out with; empty if it cannot be carried out now."""
        if self._oldest(_key(operation)) is not operation:
            return ()
        if operation.kind == "send":
            sources = (operation.rank, ANYONE)
            receives = [
                self._oldest(("recv", operation.group, operation.tag, source, operation.peer)) for source in sources
            ]
            found = [receive for receive in receives if receive]
            return (operation, min(found, key=lambda receive: receive.handle)) if found else ()
        calls = [self._oldest((operation.group, rank)) for rank in operation.members]
        return tuple(call for call in calls if call) if all(calls) else ()

    def _take(self, together: tuple[Operation, ...]) -> None:
        """Remove these, and consider the next of their sort."""
        for operation in together:
            self._queues[_key(operation)].popleft()
        self._consider([self._oldest(_key(together[0]))])


def _key(operation: Operation) -> Hashable:
    """Identifies the queue of an operation: those that must be carried out in the order of their calls."""
    if operation.kind == "send":
        return ("send", operation.group, operation.tag, operation.rank, operation.peer)
    if operation.kind == "recv":
        return ("recv", operation.group, operation.tag, operation.peer, operation.rank)
    return (operation.group, operation.rank)

"""Chapter 6: what the ranks may call: so many collectives, of so many bytes. A single rank may call anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.items import Case, Rule, Tensor
from rankzero.events import Event

#: The operations that a case allows to a rank, each with the bytes that it may hand in.
Allowed = Callable[[Case], Sequence[tuple[str, int]]]


def calls_at_most(allowed: Allowed, why: str, least: Callable[[Case], int] = lambda _case: 0) -> Rule:
    """No rank calls an operation more often, or hands it more bytes in all, than these; ``why`` ends the sentence.

    So two of them may also be one of the bytes of both. Each rank hands over ``least(case)`` bytes at least: less shows
    that the ranks have not shared the work.
    """

    def rule(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
        if len(case.args) == 1:
            return None
        for rank in range(len(case.args)):
            if sum(event.sent for event in events if event.rank == rank) < least(case):
                return f"rank {rank} handed too little to the others: is every rank computing the whole by itself?"
        limits = allowed(case)
        for event in events:
            sizes = [size for operation, size in limits if operation == event.operation]
            mine = [e.sent for e in events if (e.rank, e.operation) == (event.rank, event.operation)]
            if len(mine) > len(sizes) or sum(mine) > sum(sizes):
                times = f" in {len(mine)} calls" if len(mine) > 1 else ""
                return f"rank {event.rank} handed {sum(mine):,} bytes to {event.operation}{times}: {why}"
        return None

    return rule


def bytes_of(tensor: Tensor) -> int:
    return len(tensor.data)

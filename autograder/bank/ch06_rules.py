"""Chapter 6: what the ranks may call: so many collectives, of so many bytes. One rank alone may call what it likes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.items import Case, Rule, Tensor
from rankzero.events import Event

#: The operations that a case allows to a rank, each with the bytes that it may hand in.
Allowed = Callable[[Case], Sequence[tuple[str, int]]]


def calls_at_most(allowed: Allowed, why: str) -> Rule:
    """No rank calls an operation more often, or hands it more bytes in all, than these; ``why`` ends the sentence.

    So two of them may also be one of the bytes of both.
    """

    def rule(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
        if len(case.args) == 1:
            return None
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

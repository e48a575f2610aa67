"""Chapter 5: what the ranks may call, and how many bytes they may hand in. A single rank may call anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankzero.events import Event

Values = Sequence[Any]
Events = Sequence[Event]


def exactly(ranks: int, times: int, allowed: dict[str, int], events: Events, why: str) -> str | None:
    """On every rank these operations, each ``times`` times, of at most so many bytes."""
    for rank in range(ranks):
        mine = [event for event in events if event.rank == rank]
        for event in mine:
            if event.sent > allowed.get(event.operation, -1):
                return f"rank {rank} handed {event.sent:,} bytes to {event.operation}: {why}"
        for name in allowed:
            count = sum(event.operation == name for event in mine)
            if count != times:
                return f"rank {rank} called {name} {count} times instead of {times}: {why}"
    return None

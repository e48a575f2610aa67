"""Chapter 02: what a run must keep to besides its values: how many messages, of which size, and what overlaps.

A rule sees the case, each rank's value and the events of all ranks; it returns a sentence or None.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.events import Event


def calls(events: Sequence[Event], rank: int, operation: str) -> list[Event]:
    """The calls of one operation by one rank, in the order in which it made them."""
    return sorted((e for e in events if (e.rank, e.operation) == (rank, operation)), key=lambda event: event.start)


def messages(count: int) -> str:
    return f"{count or 'no'} message{'s' * (count != 1)}"

"""Chapter 07: what a run must keep to besides its values: messages of a pipeline, bytes of gradients and of tokens.

A rule sees the case, each rank's value and the events of all ranks; it returns a sentence or None.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.items import Case
from rankzero.events import Event


def between(event: Event, rank: int, operation: str) -> bool:
    """Whether it is a message of ``rank`` from or to the rank after it."""
    return event.rank == rank and event.operation == operation and event.peers == (rank + 1,)


def messages(case: Case, events: Sequence[Event], microbatches: int) -> str | None:
    other = next((event for event in events if event.operation not in ("send", "recv")), None)
    if other is not None:
        return f"rank {other.rank} called {other.operation}: a pipeline needs messages between neighbors only"
    ranks, sent = len(case.args), sum(event.operation == "send" for event in events)
    right = 2 * (ranks - 1) * microbatches
    if sent == right:
        return None
    return (
        f"{sent} messages were sent; {microbatches} micro-batches cross {ranks - 1} boundaries twice, {right} messages"
    )

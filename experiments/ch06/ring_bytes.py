"""Bytes that the collectives of a run would send through optimal rings, from the payloads in its event log.

The payload of a collective is a tensor or its slice; a ring sends ``2 (N-1)/N`` of the tensor for an all-reduce and
``(N-1)/N`` for each of its halves. Standard library only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rankzero.events import Event
from solutions.ch03.collective_cost import traffic

#: Operations whose input is one rank's slice of the tensor.
_SLICES = ("all_gather", "gather")


def ring_bytes(events: Iterable[Event], rank: int = 0) -> float:
    """Bytes that ``rank`` sends in all collectives of a run, each among the ranks that called it.

    Messages and barriers are left out, and so are groups of one rank, which send nothing.
    """
    total = 0.0
    for event in events:
        ranks = len(event.peers)
        if event.rank != rank or event.operation in ("send", "recv", "barrier") or ranks < 2:
            continue
        whole = event.sent * (ranks if event.operation in _SLICES else 1)
        total += traffic(event.operation, whole, ranks, event.peers.index(rank))[0]
    return total


def collective_calls(events: Iterable[Event], rank: int = 0) -> dict[str, int]:
    """How often ``rank`` called each collective, in alphabetical order."""
    found = Counter(event.operation for event in events if event.rank == rank)
    return dict(sorted(found.items()))

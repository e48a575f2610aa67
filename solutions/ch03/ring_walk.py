"""A ring reduce-scatter step by step: which contributions each chunk holds, and in which order they were added.

Two walks are in use. Rank ``i`` first sends chunk ``i + first``: with ``first=-1`` it ends with chunk ``i``, as in the
library; with ``first=0`` it ends with chunk ``i + 1``. Standard library only.

>>> ring_walk(3, first=0)[-1][0]  # rank 0 holds 1, 3 and 2 contributions in its chunks 0, 1 and 2
[1, 3, 2]
"""

from __future__ import annotations

import struct
from collections.abc import Iterable


def ring_walk(ranks: int, first: int = -1) -> list[list[list[int]]]:
    """How many ranks have contributed to each chunk: ``[step][rank][chunk]``, where step 0 is the start.

    Args:
        ranks: in the ring; at least 1.
        first: rank ``i`` first sends chunk ``i + first`` (modulo ``ranks``), then the chunk that it has just added to.
    """
    held = [[1] * ranks for _ in range(ranks)]
    history = [held]
    for step in range(ranks - 1):
        after = [row[:] for row in held]
        for rank in range(ranks):
            chunk = (rank + first - step) % ranks
            after[(rank + 1) % ranks][chunk] += held[rank][chunk]
        held = after
        history.append(held)
    return history


def complete_chunk(ranks: int, rank: int, first: int = -1) -> int:
    """The chunk that holds all contributions on ``rank`` after the last step of :func:`ring_walk`."""
    return ring_walk(ranks, first)[-1][rank].index(ranks)


def ring_order(ranks: int, chunk: int, first: int = -1) -> list[int]:
    """The ranks in the order in which their numbers enter the sum of ``chunk``."""
    return [(chunk - first + step) % ranks for step in range(ranks)]


def float32_sum(numbers: Iterable[float]) -> float:
    """The sum in float32, rounded after every addition, in the order given."""
    total = 0.0
    for number in numbers:
        total = struct.unpack("f", struct.pack("f", total + number))[0]
    return total

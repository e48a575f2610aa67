"""What several exercises of chapter 2 share."""

from __future__ import annotations

from collections.abc import Callable

Program = list[tuple[str, int]]


def ring(ranks: int, sends_first: Callable[[int], bool]) -> list[Program]:
    """Every rank sends to the right and receives from the left; ``sends_first(rank)`` says in which order."""
    calls = [[("send", (rank + 1) % ranks), ("recv", (rank - 1) % ranks)] for rank in range(ranks)]
    return [pair if sends_first(rank) else pair[::-1] for rank, pair in enumerate(calls)]


def chain(ranks: int, chunks: int) -> list[Program]:
    """A relay of ``chunks`` messages down a chain, with blocking calls."""
    middle = [[("recv", rank - 1), ("send", rank + 1)] * chunks for rank in range(1, ranks - 1)]
    return [[("send", 1)] * chunks, *middle, [("recv", ranks - 2)] * chunks]

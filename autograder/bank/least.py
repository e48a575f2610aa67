"""What the ranks of a world have to hear from one another at least, whatever program they run.

A value that depends on the data of other ranks cannot be right without them. So a rule asks for as many bytes as the
data have that a rank lacks: whoever returns the right value after fewer knows it from somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.items import Case, Rule
from rankzero.events import Event

#: The bytes that each rank needs from the others at least, by rank.
Needs = Callable[[Case], Sequence[int]]


def heard(needs: Needs) -> Rule:
    """Every rank receives the bytes that it needs. One rank alone needs nothing."""

    def rule(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
        if len(case.args) == 1:
            return None
        for rank, needed in enumerate(needs(case)):
            received = sum(event.received for event in events if event.rank == rank)
            if received < needed:
                return f"rank {rank} received {received:,} bytes; from the others it needs {needed:,} bytes at least"
        return None

    return rule


def from_each(size: int) -> Rule:
    """Every rank hears so many bytes from every other."""
    return heard(lambda case: [size * (len(case.args) - 1)] * len(case.args))


def by_everyone(size: Callable[[Case], int]) -> Rule:
    """Every rank hears so many bytes, whoever sends them."""
    return heard(lambda case: [size(case)] * len(case.args))


def first_tensor(case: Case) -> int:
    """Bytes of the first argument, a tensor of one size on all ranks."""
    return len(case.args[0][0].data)

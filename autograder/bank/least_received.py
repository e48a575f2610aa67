"""Rules for the least that the ranks of a world must receive from one another, whatever program they run.

A value that depends on the data of other ranks cannot be computed without them. So these rules require as many bytes as
a rank lacks: a program that returns the right value after receiving fewer has it from somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.items import Case, Rule
from rankzero.events import Event

#: The least number of bytes that each rank needs from the others, by rank.
Needs = Callable[[Case], Sequence[int]]


def heard(needs: Needs) -> Rule:
    """Every rank receives at least the bytes that it needs. A single rank needs nothing."""

    def rule(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
        if len(case.args) == 1:
            return None
        for rank, needed in enumerate(needs(case)):
            received = sum(event.received for event in events if event.rank == rank)
            if received < needed:
                return f"rank {rank} received {received:,} bytes; it needs at least {needed:,} bytes from the others"
        return None

    return rule


def from_each(size: int) -> Rule:
    """Every rank receives at least ``size`` bytes from each other rank."""
    return heard(lambda case: [size * (len(case.args) - 1)] * len(case.args))


def by_everyone(size: Callable[[Case], int]) -> Rule:
    """Every rank receives at least ``size(case)`` bytes, whoever sends them."""
    return heard(lambda case: [size(case)] * len(case.args))


def first_tensor(case: Case) -> int:
    """Bytes of the first argument, a tensor that has the same size on all ranks."""
    return len(case.args[0][0].data)

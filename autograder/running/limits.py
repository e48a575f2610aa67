"""Limits of a submission: of time, and of the memory that its answers take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.items import Build

MIB = 1 << 20
#: Which of a submission's two time limits an item counts against.
Budget = Literal["plain", "tensors"]


@dataclass(frozen=True)
class Limits:
    """Limits of a submission. Times are wall-clock seconds, without what a busy host takes away.

    Attributes:
        imports: time to run the units of a topic.
        packages: time to start a child and import NumPy and torch.
        call: time of one call.
        world: time of one case of a world.
        submission: time of all cases of plain functions.
        tensors: time of all cases that need torch.
        losses: how many children an item may lose, or worlds that do not end, before its remaining cases are skipped.
        answers: approximate memory that all answers of the submission together may take, bytes.
    """

    imports: float = 5.0
    packages: float = 60.0
    call: float = 2.0
    world: float = 5.0
    submission: float = 30.0
    tensors: float = 300.0
    losses: int = 2
    answers: float = 32.0 * MIB

    @classmethod
    def of(cls, items: Sequence[Build]) -> Limits:
        """The limits of an exam. Time grows with the number of items, so that one that hangs leaves enough for others.

        So does the memory for answers: right answers to all items of the course take 27 MiB together.
        """
        plain = sum(budget_of(item) == "plain" for item in items)
        return cls(
            submission=cls.submission + 3.0 * plain,
            tensors=cls.tensors + 10.0 * (len(items) - plain),
            answers=cls.answers + MIB * len(items),
        )


def budget_of(item: Build) -> Budget:
    """The time limit that an item counts against."""
    return "plain" if item.grade in ("call", "calls") else "tensors"

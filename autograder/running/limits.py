"""Limits of a submission and its children: time, memory, processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.items import Build
from autograder.sandbox import Package

MIB = 1 << 20
#: The packages that a child may import in advance, heaviest first.
PACKAGES: tuple[Package, ...] = ("torch", "numpy")
#: Address space of a child by its heaviest package, bytes.
MEMORY: dict[Package, int] = {"": 512 * MIB, "numpy": 1024 * MIB, "torch": 4096 * MIB}
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
        losses: how many children an item may lose before its remaining cases are skipped.
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


def resources(package: Package, alone: bool) -> dict[str, int]:
    """Resource limits of a child, for setrlimit. ``alone``: whether no other process runs as its user."""
    limits = {"CPU": 300 if package else 60, "AS": MEMORY[package], "FSIZE": 16 * MIB, "NOFILE": 256, "CORE": 0}
    limits["STACK"] = 8 * MIB
    return limits | ({"NPROC": 64} if alone else {})

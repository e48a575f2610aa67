"""Milestones: programs that must learn something, and the arenas in which they try."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from autograder.items.exercises import Build
from autograder.items.tensors import Tensor


class NoQuestion(Exception):
    """A program sent a request that the milestone's driver would never send."""


class Arena(Protocol):
    """Where a try takes place. It runs on the grader's side, so that a program knows only what it has been shown.

    Attributes:
        seed: the seed that the program is called with.
    """

    seed: int

    def answer(self, question: Any) -> Any:
        """The reply to a request of the milestone's driver.

        Raises:
            NoQuestion: the driver would never send this request.
        """

    def measure(self, weights: Sequence[Tensor]) -> float:
        """The score of these weights, which are finite and have the milestone's shapes."""

    def refusal(self, weights: Sequence[Tensor]) -> str:
        """Why these weights cannot have been trained on the steps played here; empty when they can."""


@dataclass(frozen=True)
class Milestone:
    """A program that must learn something: it takes minutes, is graded only on request, and earns no points.

    Attributes:
        item: the function, which is called with the number of steps and a drawn seed; its driver returns weights.
        arena: draws the arena of a try from a generator and the number of steps.
        steps: steps that a try may play.
        shapes: shapes of the weights, in order.
        unit: unit of the score.
        goal: the score that a try must reach.
        tries: number of tries.
        needed: how many tries must reach the goal.
        seconds: wall-clock limit of a try.
    """

    item: Build
    arena: Callable[[Random, int], Arena]
    steps: int
    shapes: tuple[tuple[int, ...], ...]
    unit: str
    goal: float
    tries: int
    needed: int
    seconds: float

    @property
    def id(self) -> str:
        return self.item.id

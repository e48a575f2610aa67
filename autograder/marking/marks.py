"""The result of a grading: shares, marks, answers to questions, and the total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autograder.items import AnyQuestion, Build

#: What a build item came to. ``missing``: there is no such function; ``unwritten``: it is a stub; ``unjudged``: the
#: grader could not judge it.
MarkState = Literal["right", "partly", "wrong", "missing", "unwritten", "unjudged"]
#: What a question came to.
AnswerState = Literal["right", "wrong", "missing"]


@dataclass(frozen=True)
class Share:
    """The public cases of an item, or one group of hidden ones: how many are right, and what they earn."""

    name: str
    passed: int
    total: int
    score: float
    points: float


@dataclass(frozen=True)
class Mark:
    """What one build item came to.

    ``public`` and ``hidden`` are sentences for the learner about the two kinds of cases. ``slip`` is the sentence of
    the wrong program that explains the failures; it is also the first in ``hidden``, and empty if there is none.
    """

    item: Build
    state: MarkState
    shares: tuple[Share, ...]
    public: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    slip: str = ""

    @property
    def score(self) -> float:
        """Points earned."""
        return round(sum(share.score for share in self.shares), 6)

    @property
    def points(self) -> float:
        """Points to be had."""
        return self.item.points


@dataclass(frozen=True)
class Answered:
    """What one question came to."""

    item: AnyQuestion
    state: AnswerState
    sentences: tuple[str, ...] = ()

    points = 1.0

    @property
    def score(self) -> float:
        """Points earned."""
        return self.points if self.state == "right" else 0.0


@dataclass(frozen=True)
class Grading:
    """A graded submission. If it could not be graded, ``reason`` says why, and it costs no attempt."""

    name: str
    sha256: str
    marks: tuple[Mark, ...]
    questions: tuple[Answered, ...] = ()
    problems: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """Points earned, with those for optional items."""
        return round(sum(mark.score for mark in self.all), 6)

    @property
    def points(self) -> float:
        """The points to be had, without optional items."""
        optional = sum(mark.points for mark in self.all if mark.item.bonus)
        return sum(mark.points for mark in self.all) - optional

    @property
    def all(self) -> tuple[Mark | Answered, ...]:
        """The marks of exercises, then those of questions."""
        return (*self.marks, *self.questions)


def refused(name: str, reason: str) -> Grading:
    """The grading of something that cannot be graded; it costs no attempt."""
    return Grading(name, "", (), reason=reason)

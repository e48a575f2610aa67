"""Exercises: functions and classes that a learner writes, and wrong ones to fix."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from autograder.items import edits
from autograder.items.cases import Case, Group, Rule
from autograder.items.questions import AnyQuestion, Slip
from rankzero.facts import chapters

#: How the cases of an exercise are run; :class:`Case` says what each means.
Grade = Literal["call", "calls", "tensor", "world"]


class _Lazy:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def lazily(name: str) -> Any:
    """The module ``name``, imported on first use: ``cost = lazily("solutions.ch03.collective_cost")``."""
    return _Lazy(name)


@dataclass(frozen=True)
class Build:
    """A function or class that a learner writes.

    Attributes:
        id: ``NN-`` and the function's name with hyphens.
        module: topic module in the chapter's package of ``solutions`` and ``labs``.
        function: its name, unique in the course.
        grade: how its cases are run.
        cases: public cases, printed on the page.
        groups: hidden cases; the first group, and the first of each further step, holds ordinary inputs, and no other
            group of its step earns points unless it passes.
        slips: wrong programs with their sentences.
        tolerance: relative, for floats; integers, strings and shapes must be exact. Infinite for a program that takes
            measurements: any number is accepted as its value, and the rule judges it.
        rule: a further condition on a world run (which operations, how many bytes); None when only values count.
        unchanged: the call must leave its arguments as they were.
        probe: a driver in :mod:`autograder.probes`, such as ``"ch06.differentiated"``, for what one plain call cannot
            show (gradients, a module that is built and then run). It is called with the program and the case's
            arguments, for the submission and the reference alike. Its return value counts, or what
            :mod:`autograder.conclusions` makes of that value; changes to its arguments do not.
        processes: in how many separate processes each case of a ``call`` item is run. If there are several, the probe
            gets the number of its process as ``process``.
        section: where the book explains it, such as ``"3.6"``.
        topic: the concept that reports name.
        bonus: an optional item, not part of the total.
        points: what it is worth: a quarter for the public cases, the rest in equal parts for the hidden groups.
    """

    id: str
    module: str
    function: str
    grade: Grade
    cases: tuple[Case, ...]
    groups: tuple[Group, ...]
    slips: tuple[Slip, ...]
    section: str
    topic: str
    tolerance: float = 1e-9
    rule: Rule | None = None
    unchanged: bool = True
    probe: str | None = None
    processes: int = 1
    bonus: bool = False
    points: float = 4.0

    @property
    def public_points(self) -> float:
        """What the public cases earn."""
        return self.points / 4

    @property
    def hidden_points(self) -> float:
        """What the hidden groups earn together."""
        return self.points - self.public_points

    @property
    def home(self) -> str:
        """Its module below ``solutions`` and ``labs``: ``"ch05.zero"``."""
        return f"{chapters.of_item(self.id).package}.{self.module}"

    @property
    def file(self) -> str:
        """Its file below ``solutions`` and ``labs``: ``"ch05/zero.py"``."""
        return f"{chapters.of_item(self.id).package}/{self.module}.py"

    def solution(self) -> Any:
        """The reference, from ``solutions``."""
        return _reference(self.home, self.function)

    def program_of(self, slip: Slip) -> Any:
        """The complete wrong program of ``slip``, created on first use.

        Raises:
            DoesNotApply: an edit does not apply to its base; the message names item, sentence and edit.
        """
        return _loaded(self.source_of(slip), slip.program or self.solution()) if slip.changes else slip.program

    def source_of(self, slip: Slip) -> str:
        """The source of a wrong program, to be submitted as the item's module; an edited one keeps its base's name.

        Raises:
            DoesNotApply: as :meth:`program_of`.
        """
        base = slip.program or self.solution()
        source = inspect.getsource(base if slip.program else sys.modules[base.__module__])
        try:
            return edits.changed(source, base.__name__, slip.changes)
        except edits.DoesNotApply as error:
            raise edits.DoesNotApply(f"{self.id}, {slip.sentence!r}: {error}") from None

    def hidden(self, rng: Random) -> list[tuple[Group, list[Case]]]:
        """The hidden cases by group, drawn with ``rng``."""
        drawn = []
        for group in self.groups:
            cases = list(group.corners(rng)) if group.corners else []
            cases += [group.draw(rng) for _ in range(group.count - len(cases))]
            drawn.append((group, cases))
        return drawn


def _reference(module: str, function: str) -> Any:
    return getattr(importlib.import_module(f"solutions.{module}"), function)


_loaded = functools.cache(edits.load)


@dataclass(frozen=True)
class Debug(Build):
    """A build item whose stub is a wrong program, ``wrong``, for the learner to fix."""

    wrong: Callable[..., Any] | None = None
    points: float = 2.0


Item = AnyQuestion | Build

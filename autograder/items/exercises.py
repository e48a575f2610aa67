"""Exercises: functions and classes that a learner writes, and wrong ones to fix."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from autograder.items import edits
from autograder.items.cases import Case, Group, Rule
from autograder.items.questions import AnyQuestion
from autograder.items.variants import Promise, Right, Slip, Variant
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
        header: chapter, topic module and function: ``"05 zero.zero_memory"`` is ``zero_memory`` of
            ``solutions/ch05/zero.py`` and ``labs/ch05/zero.py``. The function's name is unique in the course.
        section: where the book explains it, such as ``"3.6"``.
        topic: the concept that reports name.
        cases: public cases, printed on the page.
        groups: hidden cases; the first group, and the first of each further step, holds ordinary inputs, and no other
            group of its step earns points unless it passes.
        slips: wrong programs with their sentences.
        rights: other right programs, and ``promises``: programs that break what the docstring promises.
        grade: how its cases are run.
        bonus: an optional item, not part of the total.
        tolerance: relative, for floats; integers, strings and shapes must be exact. Infinite for a program that takes
            measurements: any number is accepted as its value, and the rule judges it.
        rule: a further condition on a world run (which operations, how many bytes); None when only values count.
        unchanged: the call must leave its arguments as they were.
        probe: a driver in :mod:`autograder.probes`, such as ``"ch06.differentiated"``, for what one plain call cannot
            show (gradients, a module that is built and then run). It is called with the program and the case's
            arguments, for the submission and the reference alike. Its return value counts, or what ``concludes`` makes
            of that value; changes to its arguments do not.
        concludes: a driver runs beside the submission, which can forge whatever the driver says. A driver therefore
            returns what happened (values, orders, recorded operations), and ``concludes(case, answer)`` finds in the
            grader's own process whether that is right: from the answer of a submission in the same way as from that of
            the reference. It has to take any answer; for one that no honest driver sends it may raise one of
            ``autograder.marking.probing.ODD``, which counts as no answer. None: answers are compared as they are.
        processes: in how many separate processes each case of a ``call`` item is run. If there are several, the probe
            gets the number of its process as ``process``.
        points: what it is worth: a quarter for the public cases, the rest in equal parts for the hidden groups.
        named: the second half of its id, where that is not the function's name.
    """

    header: str
    section: str
    topic: str
    cases: tuple[Case, ...]
    groups: tuple[Group, ...]
    slips: tuple[Slip, ...]
    rights: tuple[Right, ...] = ()
    promises: tuple[Promise, ...] = ()
    grade: Grade = "call"
    bonus: bool = False
    tolerance: float = 1e-9
    rule: Rule | None = None
    unchanged: bool = True
    probe: str | None = None
    concludes: Callable[[Case, Any], Any] | None = None
    processes: int = 1
    points: float = 4.0
    named: str = ""

    @functools.cached_property
    def id(self) -> str:
        """The chapter's number and the function's name with hyphens: ``"05-zero-memory"``."""
        return f"{self.header.partition(' ')[0]}-{self.named or hyphenated(self.function)}"

    @property
    def module(self) -> str:
        """The topic module in the chapter's package of ``solutions`` and ``labs``: ``"zero"``."""
        return self.header.partition(" ")[2].partition(".")[0]

    @property
    def function(self) -> str:
        """Its name: ``"zero_memory"``."""
        return self.header.partition(".")[2]

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

    def moved_to(self, module: str, function: str = "") -> Build:
        """The same item, whose program stands in another topic module, under another name if one is given."""
        chapter, _, named = self.id.partition("-")
        return replace(self, header=f"{chapter} {module}.{function or self.function}", named=named)

    def solution(self) -> Any:
        """The reference, from ``solutions``."""
        return _reference(self.home, self.function)

    def program_of(self, variant: Variant) -> Any:
        """The complete program of a slip, another right program or a broken promise, created on first use.

        Raises:
            DoesNotApply: an edit does not apply to its base; the message names item, sentence and edit.
        """
        if not variant.changes:
            return variant.program
        return _loaded(self.source_of(variant), variant.program or self.solution())

    def source_of(self, variant: Variant) -> str:
        """The source of such a program, to be submitted as the item's module; an edited one keeps its base's name.

        Raises:
            DoesNotApply: as :meth:`program_of`.
        """
        base = variant.program or self.solution()
        source = inspect.getsource(base if variant.program else sys.modules[base.__module__])
        try:
            return edits.changed(source, base.__name__, variant.changes)
        except edits.DoesNotApply as error:
            raise edits.DoesNotApply(f"{self.id}, {variant.sentence!r}: {error}") from None

    def hidden(self, rng: Random) -> list[tuple[Group, list[Case]]]:
        """The hidden cases by group, drawn with ``rng``."""
        drawn = []
        for group in self.groups:
            cases = list(group.corners(rng)) if group.corners else []
            cases += [group.draw(rng) for _ in range(group.count - len(cases))]
            drawn.append((group, cases))
        return drawn


def hyphenated(name: str) -> str:
    """A function's or class's name as ids and files have it, with hyphens: ``"loss-scaler"`` for ``LossScaler``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).replace("_", "-").lower()


def _reference(module: str, function: str) -> Any:
    return getattr(importlib.import_module(f"solutions.{module}"), function)


_loaded = functools.cache(edits.load)


@dataclass(frozen=True)
class Debug(Build):
    """A build item whose stub is a wrong program, ``wrong``, for the learner to fix."""

    wrong: Callable[..., Any] | None = None
    points: float = 2.0


Item = AnyQuestion | Build

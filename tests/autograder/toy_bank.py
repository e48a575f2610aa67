"""A bank of four tiny items, for tests of the judge: their references stand here, not in ``solutions``."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from autograder.items import Build, Case, Group, Slip
from autograder.marking.marks import Mark
from autograder.running.exam import Exam
from autograder.running.judging import judge
from autograder.running.limits import Limits
from autograder.sandbox import Sandbox
from autograder.submission import load

KEY = b"sesame"
LIMITS = Limits(imports=1.0, call=0.5, submission=8.0)


@dataclass(frozen=True)
class Toy(Build):
    """A build item whose reference is a function of this module."""

    def solution(self) -> Any:
        return globals()[self.function]


def scale(value: float, factor: float) -> float:
    if factor < 0:
        raise ValueError(f"factor must be >= 0, got {factor}")
    return value * factor


def lowest(values: list[float]) -> float:
    return min(values)


def spread(values: list[float]) -> list[float]:
    low = lowest(values)
    return [value - low for value in values]


class Tally:
    def __init__(self, start: int = 0) -> None:
        self.total = start

    def add(self, amount: int) -> int:
        if amount < 0:
            raise ValueError("amount must be >= 0")
        self.total += amount
        return self.total


def slip_added(value, factor):
    return value + factor


def slip_no_check(value, factor):
    return value * factor


def slip_changed(values):
    low = min(values)
    for i in range(len(values)):
        values[i] -= low
    return values


def slip_maximum(values):
    return [value - max(values) for value in values]


def _factor(rng: Random) -> Case:
    return Case((rng.uniform(1, 9), rng.uniform(2, 9)))


def _values(rng: Random) -> list[float]:
    return [rng.uniform(-9, 9) for _ in range(rng.randint(2, 6))]


def _added(rng: Random) -> Case:
    return Case((rng.randint(1, 5),), calls=tuple(("add", (rng.randint(0, 9),)) for _ in range(3)) + (("total", None),))


SCALE = Toy(
    "91 toys.scale",
    "91.1",
    "scaling",
    (Case((2.0, 3.0)), Case((0.5, 4.0)), Case((1.0, 0.0)), Case((1.0, -1.0), raises="ValueError")),
    (
        Group("ordinary", _factor, 6, "any value, factors above 1"),
        Group("nothing", lambda rng: Case((rng.uniform(1, 9), 0.0)), 2, "a factor of 0"),
        Group("bad input", lambda rng: Case((1.0, -rng.random() - 0.1), raises="ValueError"), 2, "factors below 0"),
    ),
    (Slip("The factor was added.", slip_added), Slip("A negative factor must raise.", slip_no_check)),
)
LOWEST = Toy(
    "91 toys.lowest",
    "91.2",
    "minimum",
    (Case(([3.0, 1.0, 2.0],)), Case(([-1.0],))),
    (Group("ordinary", lambda rng: Case((_values(rng),)), 6, "lists of some length"),),
    (),
)
SPREAD = Toy(
    "91 toys.spread",
    "91.2",
    "spread",
    (Case(([3.0, 1.0, 2.0],)), Case(([4.0],)), Case(([1.0, 1.0],))),
    (
        Group("ordinary", lambda rng: Case((_values(rng),)), 6, "lists of some length"),
        Group("alone", lambda rng: Case(([rng.random()],)), 2, "lists of one"),
    ),
    (Slip("The argument was changed.", slip_changed), Slip("The maximum was taken.", slip_maximum)),
)
TALLY = Toy(
    "92 toys.Tally",
    "92.1",
    "state",
    (
        Case((), calls=(("add", (2,)), ("add", (3,)), ("total", None))),
        Case((4,), calls=(("total", None), ("add", (-1,)), ("total", None))),
    ),
    (Group("ordinary", _added, 5, "several calls"),),
    (),
    grade="calls",
    bonus=True,
)
ITEMS = (SCALE, LOWEST, SPREAD, TALLY)

#: A submission that is right in everything.
RIGHT = "\n\n".join(inspect.getsource(globals()[item.function]) for item in ITEMS)


def exam(*items: Build) -> Exam:
    return Exam(items or ITEMS, KEY)


def graded(path: Path, *items: Build, sandbox: str = "none"):
    """The grading of what stands at ``path``."""
    return judge(load(path, topics=("toys",)), exam(*items), Sandbox.measure(sandbox), LIMITS)


def marks(tmp_path: Path, source: str, *items: Build) -> dict[str, Mark]:
    """The marks of a one-file submission, by function."""
    file = tmp_path / "toys.py"
    file.write_text(source, encoding="utf-8")
    return {mark.item.function: mark for mark in graded(file, *items).marks}

"""Calls that must be refused: right arguments, of which one at a time is replaced by something outside its range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from autograder.items import Case, Group, invalid

#: Numbers that count nothing: a bool, a whole float, a fraction.
NO_COUNTS: tuple[Any, ...] = (True, 8.0, 2.5)
#: Numbers that measure nothing.
NOT_FINITE = (math.nan, math.inf)
#: What is said of a program that behaves as one without any check does.
UNCHECKED = "No argument is checked: whatever is outside its range must raise ValueError."


def each(right: Mapping[str, Any], wrong: Mapping[str, Sequence[Any]]) -> list[Case]:
    """One call for each wrong value of each argument; the others are ``right``. All are given by position."""
    return [invalid(*(dict(right) | {name: value}).values()) for name, values in wrong.items() for value in values]


def bad_input(cases: Callable[[Random], Sequence[Case]], hint: str) -> Group:
    """The group "bad input": every key tries all of ``cases``, which are equally many for each."""
    return Group("bad input", lambda rng: rng.choice(cases(rng)), len(cases(Random(0))), hint, cases)

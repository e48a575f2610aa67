"""Calls that must raise: valid arguments, one of which is replaced by something outside its range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from autograder.bank.groups import listed
from autograder.items import Case, Group, invalid

#: Values that are not valid counts: a bool, a whole float, a fraction.
NO_COUNTS: tuple[Any, ...] = (True, 8.0, 2.5)
#: Floats that are not valid amounts.
NOT_FINITE = (math.nan, math.inf)
#: The sentence for a slip without any checks.
UNCHECKED = "No argument is checked: whatever is outside its range must raise ValueError."


def each(right: Mapping[str, Any], wrong: Mapping[str, Sequence[Any]]) -> list[Case]:
    """One call for each wrong value of each argument, with the others ``right``. All are passed by position."""
    return [invalid(*(dict(right) | {name: value}).values()) for name, values in wrong.items() for value in values]


def bad_input(cases: Callable[[Random], Sequence[Case]], hint: str) -> Group:
    """The group "bad input", which always has all of ``cases(rng)``, as in :func:`listed`."""
    return listed("bad input", cases, hint)

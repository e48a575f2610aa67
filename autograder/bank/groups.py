"""Groups whose cases are listed rather than drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from autograder.items import Case, Group


def listed(
    name: str, cases: Callable[[Random], Sequence[Case]], hint: str, count: int | None = None, step: str = ""
) -> Group:
    """A group that always has all of ``cases(rng)``, which must give the same number of cases for every generator.

    If ``count`` is larger than that number, the rest are picked from further lists. (The list is made when an exam is
    drawn: what it needs of a reference is not imported before.)
    """
    return Group(name, lambda rng: rng.choice(cases(rng)), count or 0, hint, cases, step)

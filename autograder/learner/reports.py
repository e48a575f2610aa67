"""The result of a check, and the public cases that it runs."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

from autograder.items import Build
from autograder.marking.papers import Asked, Paper, answered

#: Which function later cells of the page use after a check.
Using = Literal["yours", "reference"]


@dataclass(frozen=True)
class Failure:
    """A failing public case: the call, its result, and the sentence that helps."""

    call: str
    yours: str
    sentence: str


@dataclass(frozen=True)
class CheckReport:
    """The result of a check; ``source`` is the reference's source."""

    item: Build
    passed: int
    total: int
    failures: tuple[Failure, ...]
    using: Using
    source: str


@functools.cache
def _public_papers() -> dict[str, Paper]:
    return {}


def public_paper(item: Build) -> Paper:
    """The public cases with the reference's answers, computed once."""
    papers = _public_papers()
    if item.id not in papers:
        expected = answered(item, item.cases)
        asked = tuple(Asked(case, None, right) for case, right in zip(item.cases, expected, strict=True))
        papers[item.id] = Paper(item, asked, ())
    return papers[item.id]

"""One submission of a class, graded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from autograder.classroom.collecting import Handed
from autograder.marking.marks import Grading


@dataclass(frozen=True)
class Graded:
    """One submission of a class, graded.

    ``fault`` says that the grader itself failed on it, through no fault of the submission, and ``trouble`` how. Only
    the instructor may see ``trouble``: the text of an exception could contain a hidden case.
    """

    handed: Handed
    grading: Grading
    fault: bool = False
    trouble: str = ""


def lean(graded: Graded, seen: dict[Any, Any]) -> Graded:
    """An equal row that shares its marks with earlier ones through ``seen``: a class has few different marks."""
    marks = []
    for mark in graded.grading.marks:
        key = (mark.item.id, mark.state, mark.shares, mark.public, mark.hidden, mark.slip)
        marks.append(seen.setdefault(key, mark))
    return replace(graded, grading=replace(graded.grading, marks=tuple(marks)))

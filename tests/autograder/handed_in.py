"""A program handed in: what the report says of it, so that a test can judge whether that is true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.items import Build, Case, edits
from autograder.items.edits import Edit
from autograder.marking import judge, trusted, trusted_worlds
from autograder.marking.marks import Mark
from autograder.marking.outcome import Outcome
from autograder.running.exam import Exam


def marked(item: Build, program: Callable[..., Any], key: str = "key 0", timeout: float = 2.0) -> Mark:
    """The mark of ``program``; ``timeout`` is in seconds for one case."""
    with Exam([item], key.encode()) as exam:
        paper = exam.paper(item)
        return judge.mark(paper, trusted.run(item, program, paper.cases, timeout))


def edited(item: Build, *changes: Edit, key: str = "key 0") -> Mark:
    """The mark of the reference with ``changes``."""
    return marked(item, edits.edited(item.solution(), changes), key)


def outcomes(item: Build, program: Callable[..., Any], cases: Sequence[Case]) -> list[Outcome]:
    """What ``program`` answers. It is known to end, so cases of one size share a world, as for the reference."""
    run = trusted_worlds.together if item.grade in ("tensor", "world") else trusted.run
    return run(item, program, cases, 20.0)

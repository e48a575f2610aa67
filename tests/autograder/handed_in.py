"""A program handed in: what the report says of it, so that a test can judge whether that is true."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from autograder import bank
from autograder.items import Build, Case, edits
from autograder.items.edits import Edit
from autograder.marking import compare, judge, trusted, trusted_worlds
from autograder.marking.marks import Mark
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper
from autograder.running.exam import Exam


@functools.cache
def _paper(identifier: str, key: str) -> Paper:
    """The paper of an item for which no process is started: once for all tests."""
    item = bank.find(identifier)
    return Exam([item], key.encode()).paper(item)


def marked(item: Build, program: Callable[..., Any], key: str = "key 0", timeout: float = 2.0) -> Mark:
    """The mark of ``program``; ``timeout`` is in seconds for one case."""
    if item.grade in ("call", "calls") and item is bank.find(item.id):
        paper = _paper(item.id, key)
        return judge.mark(paper, trusted.run(item, program, paper.cases, timeout))
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


def faults(item: Build, program: Callable[..., Any], cases: Sequence[Case] | None = None) -> list[str | None]:
    """What is wrong with ``program``, case by case: in the public cases, or in others."""
    cases = item.cases if cases is None else cases
    expected, found = (outcomes(item, one, cases) for one in (item.solution(), program))
    return [compare.fault(item, *row) for row in zip(cases, expected, found, strict=True)]

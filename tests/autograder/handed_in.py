"""A program handed in: what the report says of it, so that a test can judge whether that is true."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autograder import bank
from autograder.items import Build, Case, Slip, edits
from autograder.items.edits import Edit
from autograder.marking import compare, judge, trusted, trusted_worlds
from autograder.marking.marks import Mark
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper, as_announced, run_slip_here
from autograder.running.exam import Exam


@functools.cache
def _paper(identifier: str, key: str) -> Paper:
    """The paper of an item, once for all tests; its wrong programs need no children of a grader."""
    item = bank.find(identifier)
    return replace(Exam([item], key.encode()).paper(item), run_slip=_slip_outcome)


def _slip_outcome(item: Build, slip: Slip, case: Case) -> Outcome:
    if item.grade == "tensor":
        return trusted_worlds.here(item, item.program_of(slip), case)
    return run_slip_here(item, slip, case)


def marked(item: Build, program: Callable[..., Any], key: str = "key 0") -> Mark:
    """The mark of ``program``, which is known to end."""
    paper = _paper(item.id, key)
    return judge.mark(paper, outcomes(item, program, paper.cases))


def edited(item: Build, *changes: Edit, key: str = "key 0") -> Mark:
    """The mark of the reference with ``changes``."""
    return marked(item, edits.edited(item.solution(), changes), key)


def outcomes(item: Build, program: Callable[..., Any], cases: Sequence[Case]) -> list[Outcome]:
    """What ``program`` answers. It is known to end: cases of one size share a world, and one rank needs none."""
    if item.grade == "tensor":
        return [trusted_worlds.here(item, program, case) for case in cases]
    if item.grade == "world":
        return trusted_worlds.together(item, program, cases, 20.0)
    return trusted.run(item, program, cases, 2.0)


def faults(item: Build, program: Callable[..., Any], cases: Sequence[Case] | None = None) -> list[str | None]:
    """What is wrong with ``program``, case by case: in the public cases, or in others."""
    cases = item.cases if cases is None else cases
    if item.grade == "world":  # both in the same worlds
        runs = [trusted_worlds.Run(item, one, case) for one in (item.solution(), program) for case in cases]
        both = trusted_worlds.ended(runs, 20.0)
        expected, found = as_announced(item, cases, both[: len(cases)]), both[len(cases) :]
    else:
        expected, found = (outcomes(item, one, cases) for one in (item.solution(), program))
    return [compare.fault(item, *row) for row in zip(cases, expected, found, strict=True)]

"""Does a grade depend on the key? Right programs in other formulations, graded with many keys.

    python -m tools.luck                              every item, 200 keys
    python -m tools.luck --only 05-zero-memory --keys 20

An item whose answers contain floats has at least two more right programs (its ``rights``): with another order of
operations, other algebra, double precision inside, or a library function. Each gets the public cases and the hidden
cases of every key, and its answers are judged as a submission's are. A right program that fails is printed with the key
and the group of the case. The programs are ours, so they run in this process and in worlds, outside the sandbox.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder import bank
from autograder.items import Build, Case, Group, Right, Tensor, edits
from autograder.marking import compare, trusted, trusted_worlds
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Asked, Paper, answered
from autograder.marking.values import Record
from autograder.running.exam import Exam

#: Number of keys whose cases share processes.
BATCH = 20
#: Seconds for one case.
CASE_TIMEOUT = 30.0


@dataclass(frozen=True)
class Failure:
    """A case that a right program failed."""

    item: str
    formulation: str
    key: int
    group: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.item}, {self.formulation}, key {self.key}, {self.group}: {self.sentence}"


def has_floats(item: Build) -> bool:
    """Whether an answer to a public case, or to a hidden one of the first key, contains a float."""
    cases = [case for _, case in _drawn(item, 0)]
    return any(outcome.kind == "value" and _floats(outcome.value) for outcome in _answers(item, item.solution(), cases))


def _floats(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dtype.startswith("float")
    if isinstance(value, Record):
        return _floats(list(value.fields.values()))
    if isinstance(value, dict):
        return _floats(list(value.values()))
    return any(map(_floats, value)) if isinstance(value, list | tuple) else isinstance(value, float)


def failures(item: Build, programs: Sequence[Right], keys: Sequence[int]) -> Iterator[Failure]:
    """The cases that right programs fail, over all keys."""
    made = [(right, item.program_of(right)) for right in programs]
    for start in range(0, len(keys), BATCH):
        rows = [(key, group, case) for key in keys[start : start + BATCH] for group, case in _drawn(item, key)]
        cases = [case for _, _, case in rows]
        expected = answered(item, cases)
        for right, program in made:
            outcomes = _answers(item, program, cases)
            for index, sentence in _faults(item, cases, expected, outcomes):
                key, group, _ = rows[index]
                yield Failure(item.id, right.sentence, key, group.name if group else "public cases", sentence)


def _faults(
    item: Build, cases: Sequence[Case], expected: Sequence[Outcome], outcomes: Sequence[Outcome]
) -> Iterator[tuple[int, str]]:
    """The places of wrong outcomes. How far rounding moves the reference is computed only where it may matter."""
    rows = zip(cases, expected, outcomes, strict=True)
    far = [index for index, row in enumerate(rows) if compare.fault(item, *row)]
    paper = Paper(item, tuple(Asked(cases[index], None, expected[index]) for index in far), ())
    for number, place in enumerate(far):
        if sentence := paper.fault(number, outcomes[place]):
            yield place, sentence


def _drawn(item: Build, key: int) -> list[tuple[Group | None, Case]]:
    """The cases of a grading with this key."""
    return list(Exam([item], f"key {key}".encode()).sheet(item).drawn)


def _answers(item: Build, program: Any, cases: Sequence[Case]) -> list[Outcome]:
    if item.grade in ("tensor", "world"):
        return trusted_worlds.together(item, program, cases, CASE_TIMEOUT)
    return trusted.run(item, program, cases, CASE_TIMEOUT)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.luck", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="ID", default=[], help="only these items")
    parser.add_argument("--keys", type=int, default=200, help="how many keys (200)")
    options = parser.parse_args(argv)
    if unknown := {*options.only} - {item.id for item in bank.builds()}:
        parser.error(f"no item's id is {' or '.join(sorted(unknown))}")
    if options.keys < 1:
        parser.error(f"keys must be an integer >= 1, got {options.keys}")
    items = [item for item in bank.builds() if not options.only or item.id in options.only]
    failed = 0
    for item in items:
        programs = item.rights
        if len(programs) < 2 and has_floats(item):
            print(f"{item.id}: {len(programs)} other right programs; two are needed", flush=True)
            failed += 1
        try:
            found = list(failures(item, programs, range(options.keys))) if programs else []
        except edits.DoesNotApply as error:
            print(f"{item.id}: {error}", flush=True)
            failed += 1
            continue
        if programs or options.only:
            print(f"{item.id}: {len(programs)} programs, {options.keys} keys, {len(found)} cases failed", flush=True)
        print(*(f"  {one}" for one in found), sep="\n", end="\n" if found else "", flush=True)
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

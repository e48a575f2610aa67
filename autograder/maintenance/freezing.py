"""Freezes an exam into a file: every case, the reference's answer to it, and the order in which cases are asked.

Where the reference's answer depends on how it rounds, its other answers are stored too; an answer that lies between
them is right.

Grading with a frozen exam needs no key, draws no inputs and runs no reference. The file contains the hidden inputs and
their answers, so only the instructor may have it. Its hash detects damage and careless edits, but does not stop anyone
who can write the file from replacing it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import bank, files
from autograder.items import AnyQuestion, Build, Case, Group
from autograder.marking import values
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Asked, ExamSheet, Paper, run_slip_here
from autograder.running.exam import Exam

#: The version of the file format; files in any other format are rejected.
FORMAT = "rankzero vectors 2"


class NotFrozen(Exception):
    """A file of frozen vectors that cannot be used; the message is a sentence."""


def freeze(exam: Exam) -> dict[str, Any]:
    """Everything that ``exam`` asks, with the reference's answers, as plain data for ``json``.

    Raises:
        CannotJudge: the reference does not answer one of the cases as the bank says it should.
    """
    exam.prepare()
    content: dict[str, Any] = {
        "format": FORMAT,
        "key_hash": exam.key_hash,
        "vectors": exam.vectors_hash,
        "items": {item.id: _frozen(exam.sheet(item), exam.paper(item)) for item in exam.items},
        "questions": [question.id for question in exam.questions],
    }
    return content | {"sha256": _digest(content)}


def thaw(content: Any) -> FrozenExam:
    """The exam that :func:`freeze` wrote, with every case and answer decoded.

    Raises:
        NotFrozen: it was changed, is in another format, or contains an item that the bank no longer has.
    """
    other = f"this is not a file of frozen vectors ({FORMAT!r})"
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise NotFrozen(other)
    try:
        if content["sha256"] != _digest({name: part for name, part in content.items() if name != "sha256"}):
            raise NotFrozen("the frozen vectors were changed after they were written: their hash differs")
        return FrozenExam(content)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, values.Malformed) as error:
        raise NotFrozen(f"{other}: {type(error).__name__}: {error}") from None


def read(path: str | os.PathLike[str]) -> FrozenExam:
    """The exam in a file.

    Raises:
        NotFrozen: it cannot be read or used.
    """
    try:
        content = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise NotFrozen(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise NotFrozen(f"{path} is not JSON") from None
    try:
        return thaw(content)
    except NotFrozen as error:
        raise NotFrozen(f"{path}: {error}") from None


def write(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write frozen vectors atomically, readable by their owner only.

    Raises:
        OSError: the folder cannot be written.
    """
    files.save(path, json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n")


class FrozenExam(Exam):
    """An exam whose sheets and answers come from a file. :func:`thaw` creates it."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._frozen = content["items"]
        self._key_hash = content["key_hash"]
        items = [_item(identifier, kept) for identifier, kept in self._frozen.items()]
        super().__init__(items, b"", [_question(identifier) for identifier in content["questions"]])
        changed = [item.id for item in items if self.sheet(item).hash != self._frozen[item.id]["hash"]]
        if changed or self.vectors_hash != content["vectors"]:
            raise NotFrozen(f"the frozen cases of {', '.join(changed) or 'this set'} do not match their hash")
        if type(self._key_hash) is not str:
            raise TypeError("key_hash")
        for item in items:
            self.paper(item).movements  # noqa: B018 (decodes the answers, so that a damaged one is found now)

    @property
    def key_hash(self) -> str:
        """Identifies the key with which the cases were drawn."""
        return self._key_hash

    def for_submission(self, sha256: str) -> Exam:
        """Always raises: without the key, no inputs can be drawn for a single submission."""
        raise NotFrozen("frozen vectors are the same for every submission")

    def prepare(self) -> None:
        """Nothing: the answers are those of the file, and no reference need be here."""

    def _draw(self, item: Build) -> ExamSheet:
        kept = self._frozen[item.id]
        return ExamSheet(item, tuple(_drawn(item, one) for one in kept["drawn"]), tuple(kept["again"]))

    def _answer(self, sheet: ExamSheet) -> Paper:
        expected = [Outcome.from_plain(one["expected"]) for one in self._frozen[sheet.item.id]["drawn"]]
        asked = [Asked(case, group, right) for (group, case), right in zip(sheet.drawn, expected, strict=True)]
        pairs = tuple((first, len(asked) + number) for number, first in enumerate(sheet.again))
        run_slip = self._slip_runner.run if sheet.item.grade in ("tensor", "world") else run_slip_here
        asked += [asked[first] for first in sheet.again]
        return Paper(sheet.item, tuple(asked), pairs, sheet.hash, run_slip, moved=lambda: self._moved(sheet.item))

    def _moved(self, item: Build) -> list[list[Outcome]]:
        moved = [one["moved"] for one in self._frozen[item.id]["drawn"]]
        if any(type(others) is not list for others in moved):
            raise TypeError("moved")
        return [list(map(Outcome.from_plain, others)) for others in moved]


def _frozen(sheet: ExamSheet, paper: Paper) -> dict[str, Any]:
    drawn = [
        _row(sheet.item, group, case, paper.asked[index].expected, paper.movements[index])
        for index, (group, case) in enumerate(sheet.drawn)
    ]
    return {"hash": sheet.hash, "drawn": drawn, "again": list(sheet.again)}


def _row(item: Build, group: Group | None, case: Case, expected: Outcome, moved: Sequence[Outcome]) -> dict[str, Any]:
    """One case as plain data, under the name of its group or, if it is public, its index on the page."""
    name = group.name if group else _place(item.cases, case)
    others = [replace(other, arguments=None, events=()).plain for other in moved]
    return {"group": name, "case": _wire(case), "expected": expected.plain, "moved": others}


def _place(cases: Sequence[Case], case: Case) -> int:
    return next(index for index, other in enumerate(cases) if other is case)


def _wire(case: Case) -> Any:
    """A case as ``json`` would return it: with lists, not tuples."""
    return values.encode((case.args, dict(case.kwargs), case.raises, case.calls))


def _case(wire: Any) -> Case:
    return Case(*values.decode(wire))


def _item(identifier: str, kept: Mapping[str, Any]) -> Build:
    """The bank's item with the frozen public cases, in the order of the page.

    A case that is still in the bank is taken from there, since it may print better than decoded values do.
    """
    try:
        item = bank.find(identifier)
    except KeyError:
        raise NotFrozen(f"{identifier} is no longer in the bank: grade with the version that froze it") from None
    if not isinstance(item, Build):
        raise NotFrozen(f"{identifier} is no longer an item with cases: grade with the version that froze it")
    public = {one["group"]: one["case"] for one in kept["drawn"] if type(one["group"]) is int}
    now = dict(enumerate(item.cases))
    cases = [now[n] if n in now and _wire(now[n]) == wire else _case(wire) for n, wire in sorted(public.items())]
    return replace(item, cases=tuple(cases))


def _question(identifier: str) -> AnyQuestion:
    try:
        found = bank.find(identifier)
    except KeyError:
        raise NotFrozen(f"{identifier} is no longer in the bank: grade with the version that froze it") from None
    if isinstance(found, Build):
        raise NotFrozen(f"{identifier} is no longer a question: grade with the version that froze it")
    return found


def _drawn(item: Build, one: Mapping[str, Any]) -> tuple[Group | None, Case]:
    name = one["group"]
    if type(name) is int:
        return None, item.cases[name]
    group = next((group for group in item.groups if group.name == name), None)
    if group is None:
        raise NotFrozen(f"{item.id} no longer has the group {name!r}: grade with the version that froze it")
    return group, _case(one["case"])


def _digest(content: Mapping[str, Any]) -> str:
    """A digest of the content that does not depend on its layout in the file."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

"""Vectors as a file: every case of an exam, what the reference gives for it, and the order in which it is asked.

Where the reference moves when it rounds otherwise, its other answers are kept too: what lies among them is right.

A frozen set grades without the key, without drawing anything and without running a reference. It holds the hidden
inputs and their answers: it belongs to the instructor. Its hash finds damage and careless edits; who may write the file
can write another one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import bank, files, values
from autograder.exam import Asked, Exam, Paper, Sheet, in_trust
from autograder.items import Build, Case, Choice, Group, Order, Question
from autograder.outcome import Outcome

#: The layout of the file; one that is written otherwise is refused.
FORMAT = "rankzero vectors 2"


class NotFrozen(Exception):
    """A file of vectors that cannot be used; the message is a sentence."""


def freeze(exam: Exam) -> dict[str, Any]:
    """Everything that ``exam`` asks, with the reference's answers, as plain data for ``json``.

    Raises:
        CannotJudge: the reference does not answer one of its cases as the bank says.
    """
    content: dict[str, Any] = {
        "format": FORMAT,
        "key_hash": exam.key_hash,
        "vectors": exam.vectors_hash,
        "items": {item.id: _frozen(exam.sheet(item), exam.paper(item)) for item in exam.items},
        "questions": [question.id for question in exam.questions],
    }
    return content | {"sha256": _digest(content)}


def thaw(content: Any) -> FrozenExam:
    """The exam that :func:`freeze` wrote; every case and answer in it was read.

    Raises:
        NotFrozen: it was changed, is of another layout, or asks for an item that the bank no longer has.
    """
    other = f"this is no file of frozen vectors ({FORMAT!r})"
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise NotFrozen(other)
    try:
        if content["sha256"] != _digest({name: part for name, part in content.items() if name != "sha256"}):
            raise NotFrozen("the frozen vectors were changed after they were written: their hash is another")
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
    """Write a frozen set whole or not at all, for its owner alone.

    Raises:
        OSError: the folder cannot be written.
    """
    files.save(path, json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n")


class FrozenExam(Exam):
    """An exam whose sheets and answers come from a file. Made by :func:`thaw`."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._frozen = content["items"]
        self._key_hash = content["key_hash"]
        items = [_item(identifier, kept) for identifier, kept in self._frozen.items()]
        super().__init__(items, b"", [_question(identifier) for identifier in content["questions"]])
        changed = [item.id for item in items if self.sheet(item).hash != self._frozen[item.id]["hash"]]
        if changed or self.vectors_hash != content["vectors"]:
            raise NotFrozen(f"the frozen cases of {', '.join(changed) or 'this set'} are not those of its hash")
        if type(self._key_hash) is not str:
            raise TypeError("key_hash")
        for item in items:
            self.paper(item).movements  # noqa: B018 (so that what cannot be read is found now)

    @property
    def key_hash(self) -> str:
        """Names the key with which the cases were drawn."""
        return self._key_hash

    def for_submission(self, sha256: str) -> Exam:
        """There is one set for all: nothing can be drawn without the key."""
        raise NotFrozen("frozen vectors are the same for every submission")

    def _draw(self, item: Build) -> Sheet:
        kept = self._frozen[item.id]
        return Sheet(item, tuple(_drawn(item, one) for one in kept["drawn"]), tuple(kept["again"]))

    def _answer(self, sheet: Sheet) -> Paper:
        expected = [Outcome.from_plain(one["expected"]) for one in self._frozen[sheet.item.id]["drawn"]]
        asked = [Asked(case, group, right) for (group, case), right in zip(sheet.drawn, expected, strict=True)]
        pairs = tuple((first, len(asked) + number) for number, first in enumerate(sheet.again))
        run_slip = self._bench.run if sheet.item.grade in ("tensor", "world") else in_trust
        asked += [asked[first] for first in sheet.again]
        return Paper(sheet.item, tuple(asked), pairs, sheet.hash, run_slip, moved=lambda: self._moved(sheet.item))

    def _moved(self, item: Build) -> list[list[Outcome]]:
        moved = [one["moved"] for one in self._frozen[item.id]["drawn"]]
        if any(type(others) is not list for others in moved):
            raise TypeError("moved")
        return [list(map(Outcome.from_plain, others)) for others in moved]


def _frozen(sheet: Sheet, paper: Paper) -> dict[str, Any]:
    drawn = [
        _row(sheet.item, group, case, paper.asked[place].expected, paper.movements[place])
        for place, (group, case) in enumerate(sheet.drawn)
    ]
    return {"hash": sheet.hash, "drawn": drawn, "again": list(sheet.again)}


def _row(item: Build, group: Group | None, case: Case, expected: Outcome, moved: Sequence[Outcome]) -> dict[str, Any]:
    """One case: its group's name, or its place on the page when it is public."""
    name = group.name if group else _place(item.cases, case)
    others = [replace(other, arguments=None, events=()).plain for other in moved]
    return {"group": name, "case": _wire(case), "expected": expected.plain, "moved": others}


def _place(cases: Sequence[Case], case: Case) -> int:
    return next(place for place, other in enumerate(cases) if other is case)


def _wire(case: Case) -> Any:
    """As ``json`` gives it back: lists, no tuples."""
    return values.encode((case.args, dict(case.kwargs), case.raises, case.calls))


def _case(wire: Any) -> Case:
    return Case(*values.decode(wire))


def _item(identifier: str, kept: Mapping[str, Any]) -> Build:
    """The bank's item with the public cases of the frozen set, in the order of the page.

    A case that still stands in the bank is taken from there: on the page it may look nicer than plain values do.
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


def _question(identifier: str) -> Question | Choice | Order:
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
    """Of the content, however it is laid out in its file."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()

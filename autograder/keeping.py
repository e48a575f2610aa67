"""The folder of a graded class: written piece by piece as submissions finish, and read again.

``class.json`` says what was asked and where (never the key); ``finished.jsonl`` has one line for each finished
submission; ``answers``, ``results`` and ``pages`` hold a file for each, called after its id; ``class.csv``,
``items.csv`` and ``pages/index.html`` stand when all are done. Every file is whole: a line is appended by one write,
after the files of its submission, and what a kill may leave of it is dropped when the folder is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import pages, report, tables
from autograder.classroom import Graded, lean
from autograder.collecting import Handed
from autograder.exam import vectors_hash
from autograder.items import Build
from autograder.judge import Answered, Grading, Mark, Share

#: Stamps that two gradings must share to be parts of one.
CORE = ("items", "questions", "points", "key_hash", "vectors", "per_submission", "grader")
#: What a stamp of :data:`CORE` means in a sentence.
WORDS = {"key_hash": "key", "vectors": "inputs", "per_submission": "--per-submission", "grader": "grader version"}


class NotAClass(Exception):
    """A folder is not what it must be; the message is a sentence."""


class Folder:
    """A graded class on disk. ``resume`` goes on with what is in it."""

    def __init__(self, path: str | os.PathLike[str], resume: bool = False) -> None:
        self.path, self.resume = Path(path), resume
        self.stamps: dict[str, Any] = {}

    # Writing.

    def check(self) -> None:
        """Refuse a folder that holds a graded class, unless it goes on with that.

        Raises:
            NotAClass: it holds one.
        """
        if not self.resume and (self.path / "class.json").exists():
            raise NotAClass(f"{self.path} holds a graded class: give --resume to go on with it, or another folder")

    def begin(self, stamps: Mapping[str, Any]) -> Folder:
        """Make the folder, or go on with it.

        Raises:
            NotAClass: it holds a class that was graded otherwise.
            OSError: it cannot be written.
        """
        self.check()
        lines: list[dict[str, Any]] = []
        if (self.path / "class.json").exists():
            agree(opened(self.path).stamps, stamps, self.path)
            lines = list(self._lines())
        self.stamps = dict(stamps)
        for part in ("answers", "results", "pages"):
            (self.path / part).mkdir(parents=True, exist_ok=True)
        _write(self.path / "class.json", json.dumps(self.stamps, indent=1) + "\n")
        _write(self.path / "finished.jsonl", "".join(map(_dumped, lines)))
        return self

    def expect(self, handed: Iterable[Handed]) -> None:
        """A result that says "did not finish" for each submission, until there is a better one."""
        text = _dumped(report.unfinished())
        for one in handed:
            _write(self._file("results", one.id), text)

    def texts(self, graded: Graded, answers: Mapping[str, Any]) -> dict[str, str]:
        """What is kept of a submission: its answers, results, page and line."""
        stamps = self._stamps_of(answers)
        return {
            "answers": _dumped(answers),
            "results": _dumped(report.results(graded.grading, stamps)),
            "pages": pages.learner(graded, stamps),
            "line": _dumped(row_of(graded)),
        }

    def put(self, identifier: str, texts: Mapping[str, str]) -> None:
        """Write what is kept of a submission; its line comes last."""
        for part in ("answers", "results", "pages"):
            _write(self._file(part, identifier), texts[part])
        with open(self.path / "finished.jsonl", "ab", buffering=0) as file:
            file.write(texts["line"].encode())

    def copy(self, other: Folder, identifier: str, line: str) -> None:
        """Take over what another folder keeps of a submission."""
        texts = {part: _read(other._file(part, identifier)) for part in ("answers", "results", "pages")}
        self.put(identifier, texts | {"line": line})

    def finish(self, rows: Sequence[Graded]) -> None:
        """The lines in order, the table and the page of the class."""
        stamps = {name: self.stamps[name] for name in ("sandbox", "key_hash", "vectors", "grader", "interpreter")}
        _write(self.path / "finished.jsonl", "".join(_dumped(row_of(row)) for row in rows))
        _write(self.path / "class.csv", tables.class_csv(rows))
        _write(self.path / "items.csv", tables.items_csv(rows))
        _write(self.path / "pages" / "index.html", pages.classroom(rows, stamps))

    def _stamps_of(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """What the results of one submission say of their grading."""
        asked = answers["vectors"]
        vectors = vectors_hash(asked[item] for item in self.stamps["items"]) if asked else self.stamps["vectors"]
        own = {"sandbox": answers["sandbox"] or self.stamps["sandbox"], "vectors": vectors}
        return own | {name: self.stamps[name] for name in ("key_hash", "grader", "interpreter", "per_submission")}

    def _file(self, part: str, identifier: str) -> Path:
        return self.path / part / f"{identifier}{'.html' if part == 'pages' else '.json'}"

    # Reading.

    def answers(self, identifier: str) -> dict[str, Any]:
        """The raw answers of one submission.

        Raises:
            NotAClass: they are not there, or are no JSON.
        """
        return json.loads(_read(self._file("answers", identifier)))

    def rows(self) -> dict[str, Graded]:
        """What is finished, by id. Of two lines for one submission the later counts."""
        items = self.items()
        seen: dict[Any, Any] = {}
        return {row["id"]: lean(_graded(row, items), seen) for row in self._lines()}

    def items(self) -> dict[str, Any]:
        """Items and questions that were asked, by id, at the points of that grading.

        Raises:
            NotAClass: one of them is not in this bank.
        """
        from autograder import bank

        worth = self.stamps["points"]
        names = (*self.stamps["items"], *self.stamps["questions"])
        try:
            found: dict[str, Any] = {name: bank.find(name) for name in names}
        except KeyError as error:
            raise NotAClass(f"{self.path} was graded with another bank: {error.args[0]}") from None
        return {k: replace(one, points=worth[k]) if isinstance(one, Build) else one for k, one in found.items()}

    def _lines(self) -> Iterator[dict[str, Any]]:
        """The whole lines of ``finished.jsonl``; one that a kill has torn is passed over."""
        try:
            with open(self.path / "finished.jsonl", "rb") as file:
                for line in file:
                    try:
                        yield json.loads(line)
                    except ValueError:
                        continue
        except FileNotFoundError:
            return


def opened(path: str | os.PathLike[str]) -> Folder:
    """The graded class in a folder, to be read.

    Raises:
        NotAClass: there is none.
    """
    folder = Folder(path)
    try:
        folder.stamps = json.loads((folder.path / "class.json").read_text(encoding="utf-8"))
        if set(CORE) <= set(folder.stamps):
            return folder
    except (OSError, ValueError, TypeError):
        pass
    raise NotAClass(f"{path} is not a graded class: it has no class.json of grade-class")


def agree(kept: Mapping[str, Any], now: Mapping[str, Any], path: object) -> None:
    """Refuse two gradings that ask something else.

    Raises:
        NotAClass: they do; the message names the stamp.
    """
    other = [WORDS.get(name, name) for name in CORE if kept[name] != now[name]]
    if other:
        raise NotAClass(f"{path} was graded with other {', '.join(other)}: they cannot stand in one class")


def merge(folders: Sequence[Folder], into: Folder) -> list[Graded]:
    """Join the parts of one class.

    Raises:
        NotAClass: they were graded otherwise, or one submission stands in two of them with other content.
    """
    first, rows, homes = folders[0], dict[str, Graded](), dict[str, Folder]()
    for folder in folders:
        agree(folder.stamps, first.stamps, folder.path)
        for identifier, row in folder.rows().items():
            if identifier in rows and _content(rows[identifier]) != _content(row):
                pair = f"{homes[identifier].path} and {folder.path}"
                raise NotAClass(f"{identifier} stands in {pair} with other content: keep one of the two")
            rows[identifier], homes[identifier] = row, folder
    into.begin(first.stamps | {name: _joined(folders, name) for name in ("sandbox", "interpreter")})
    ordered = [rows[identifier] for identifier in sorted(rows)]
    for row in ordered:
        into.copy(homes[row.handed.id], row.handed.id, _dumped(row_of(row)))
    into.finish(ordered)
    return ordered


def _content(row: Graded) -> tuple[Any, ...]:
    return row.grading.sha256, row.grading.score, row.grading.reason


def _joined(folders: Sequence[Folder], name: str) -> str:
    return " | ".join(dict.fromkeys(folder.stamps[name] for folder in folders))


# A row as plain data, and back.


def row_of(graded: Graded) -> dict[str, Any]:
    """A row of the class as a line keeps it."""
    handed, grading = graded.handed, graded.grading
    return {
        "id": handed.id,
        "name": handed.name,
        "sha256": grading.sha256,
        "score": grading.score,
        "points": grading.points,
        "seconds": round(grading.seconds, 3),
        "reason": grading.reason,
        "late": handed.late,
        "known": dict(handed.known),
        "fault": graded.fault,
        "submission": grading.name,
        "problems": list(grading.problems),
        "marks": {mark.item.id: _plain_mark(mark) for mark in grading.marks},
        "questions": {one.item.id: [one.state, list(one.sentences)] for one in grading.questions},
    }


def _plain_mark(mark: Mark) -> dict[str, Any]:
    shares = [[share.name, share.passed, share.total, share.score, share.points] for share in mark.shares]
    texts = {"public": list(mark.public), "hidden": list(mark.hidden)}
    slip = {"slip": mark.slip} if mark.slip else {}
    return {"state": mark.state, "shares": shares} | {name: lines for name, lines in texts.items() if lines} | slip


def _graded(row: Mapping[str, Any], items: Mapping[str, Any]) -> Graded:
    handed = Handed(row["id"], Path(row["submission"]), row["name"], row["known"], row["late"])
    marks = tuple(_mark(items[name], kept) for name, kept in row["marks"].items())
    questions = tuple(Answered(items[name], state, tuple(said)) for name, (state, said) in row["questions"].items())
    grading = Grading(
        row["submission"],
        row["sha256"],
        marks,
        questions,
        tuple(row["problems"]),
        row["reason"],
        row["seconds"],
    )
    return Graded(handed, grading, row["fault"])


def _mark(item: Build, kept: Mapping[str, Any]) -> Mark:
    shares = tuple(Share(*share) for share in kept["shares"])
    public, hidden = (tuple(kept.get(name, ())) for name in ("public", "hidden"))
    return Mark(item, kept["state"], shares, public, hidden, kept.get("slip", ""))


# Files.


def _dumped(content: Mapping[str, Any]) -> str:
    return json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all. A name of a learner that is no Unicode text is written as escapes."""
    temporary = f"{path.parent}/.{path.name}.{os.getpid()}"
    try:
        with open(temporary, "wb", buffering=0) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise NotAClass(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None

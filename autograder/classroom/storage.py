"""The folder of a graded class: written as submissions finish, and read again.

``class.json`` says what was asked and where (never the key), and ``finished.jsonl`` has one line per finished
submission. ``answers``, ``results`` and ``pages`` contain a file per submission, named after its id. ``class.csv``,
``items.csv`` and ``pages/index.html`` are written when all submissions are done. No file is ever half-written: a line
is appended in a single write, after the other files of its submission, and if the process is killed during that write,
the incomplete line is dropped when the folder is opened again. A power cut may also lose files whose line is there:
such a submission is graded again on ``--resume``. Only one grader at a time writes into a folder; ``.lock`` is locked
meanwhile.

Everything on which a grade is based when it is read again has a seal (``seals``): every line, which includes a digest
of the answers it was made from, and ``class.json``, which includes a digest of all lines once they are complete. Nobody
can change them unnoticed without the key.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder import bank, files
from autograder.classroom import pages, tables
from autograder.classroom.collecting import Handed
from autograder.classroom.graded import Graded, lean
from autograder.classroom.rows import graded_of, row_of
from autograder.classroom.seals import NAME, Seal
from autograder.items import Build
from autograder.marking import report
from autograder.marking.papers import vectors_hash
from autograder.running.exam import Exam
from autograder.screen import complain

#: Stamps that must be equal for two gradings to be parts of the same class.
CORE = ("items", "questions", "points", "key_hash", "vectors", "per_submission", "grader")
#: How a message calls a stamp.
WORDS = {
    "key_hash": "key",
    "vectors": "inputs",
    "per_submission": "--per-submission",
    "grader": "grader version",
    "shard": "--shard",
}
#: The type of every stamp.
TYPES = {"items": list, "questions": list, "points": dict, "per_submission": bool}
TYPES |= dict.fromkeys(("key_hash", "vectors", "grader", "sandbox", "interpreter", "shard"), str)
#: Stamps that may differ between submissions: in the stamps of a class, they list every value that occurred.
PLACES = ("sandbox", "interpreter")


class NotAClass(Exception):
    """A folder is not the graded class it should be; the message is a sentence."""


class NotStored(OSError):
    """The folder of a class that is being graded cannot be written any more: the disk is full, for example."""


class Folder:
    """A graded class on disk.

    Args:
        path: the folder.
        resume: continue the grading that is in it.
        shard: ``"3/16"`` for a part of a class, empty for all of it.
    """

    def __init__(self, path: str | os.PathLike[str], resume: bool = False, shard: str = "") -> None:
        self.path, self.resume, self.shard = Path(path), resume, shard
        self.stamps: dict[str, Any] = {}
        self.finished = ""  # the digest of all lines, once they are complete
        self._seal: Seal | None = None
        self._answers: dict[str, str] = {}  # the digest of each submission's answers, by id
        self._locked: int | None = None  # the descriptor of the locked file

    # Writing.

    def check(self) -> None:
        """Make sure that no graded class is overwritten.

        Raises:
            NotAClass: the folder already holds a graded class, and it was not opened to resume that.
        """
        if not self.resume and (self.path / "class.json").exists():
            raise NotAClass(f"{self.path} holds a graded class: give --resume to continue it, or name another folder")

    def begin(self, stamps: Mapping[str, Any], key: bytes) -> Folder:
        """Create the folder, or prepare to continue the grading in it. No other grader can, until :meth:`close`.

        Raises:
            NotAClass: it holds a class that was graded differently, or was changed afterwards, or is being graded now.
            OSError: it cannot be written.
        """
        empty = not self.path.exists() or not any(self.path.iterdir())
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock()
        self.check()
        self.stamps, self._seal = {**stamps, "shard": self.shard}, Seal(key)
        lines: list[dict[str, Any]] = []
        if (self.path / "class.json").exists():
            lines = self._taken_over(key)
        if empty or (self.path / "class.json").exists():
            files.make_private(self.path)  # a folder with other content keeps its permissions
        for part in ("answers", "results", "pages"):
            files.make_private(self.path / part)
        self._stamp()
        files.save(self.path / "finished.jsonl", "".join(map(dumped, lines)), durable=True)
        return self

    def _lock(self) -> None:
        """Lock the folder, where this system can. The lock of a process that is killed ends with the process."""
        try:
            import fcntl
        except ImportError:  # native Windows
            return
        self._locked = os.open(self.path / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise NotAClass(f"another grader writes into {self.path}: wait for it, or name another folder") from None
        except OSError:  # some network file systems have no locks
            pass

    def close(self) -> None:
        """Let other graders write into the folder."""
        if self._locked is not None:
            os.close(self._locked)
            self._locked = None

    def _taken_over(self, key: bytes) -> list[dict[str, Any]]:
        """The lines of the class that is already in the folder, without those whose files do not fit."""
        kept = opened(self.path)
        agree(kept.stamps, self.stamps, self.path, (*CORE, "shard"))
        kept.verify(key, whole=False)
        self.stamps |= {name: joined((kept.stamps, self.stamps), name) for name in PLACES}
        lost = [name for name in kept._answers if not kept._is_whole(name)]
        if lost:
            names = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
            complain(f"graded again, because their files are missing or were changed after they were graded: {names}")
        self._answers = {name: kept._answers[name] for name in kept._answers.keys() - set(lost)}
        return [row for row in kept._lines() if row["id"] in self._answers]

    def _stamp(self) -> None:
        """Write the stamps, with the digest of all lines once they are complete."""
        finished = {"finished": self.finished} if self.finished else {}
        content = self._sealed("class", {**self.stamps, **finished})
        files.save(self.path / "class.json", json.dumps(content, indent=1) + "\n", durable=True)

    def _sealed(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        assert self._seal is not None, "begin comes first"
        return self._seal.sealed(kind, content)

    def expect(self, handed: Iterable[Handed]) -> None:
        """Until they are graded, give these submissions a result that says "did not finish", and no line."""
        text = dumped(report.unfinished())
        names = {submission.id for submission in handed}
        with _storing():
            for name in names:
                files.save(self._file("results", name), text)
            others = [row for row in self._lines() if row["id"] not in names]
            files.save(self.path / "finished.jsonl", "".join(map(dumped, others)), durable=True)

    def texts(self, graded: Graded, answers: Mapping[str, Any]) -> dict[str, str]:
        """The content of the files of a submission: its answers, results, page and line."""
        stamps, kept = self._stamps_of(answers), dumped(answers)
        return {
            "answers": kept,
            "results": dumped(report.results(graded.grading, stamps)),
            "pages": pages.learner(graded, stamps),
            "line": self._line(graded, _digest(kept)),
        }

    def _line(self, graded: Graded, answers: str) -> str:
        return dumped(self._sealed("line", row_of(graded) | {"answers": answers}))

    def put(self, identifier: str, texts: Mapping[str, str]) -> None:
        """Write the files of a submission; its line comes last.

        Raises:
            NotStored: they cannot be written. What was stored before is valid.
        """
        with _storing():
            for part in ("answers", "results", "pages"):
                files.save(self._file(part, identifier), texts[part])
            self._answers[identifier] = _digest(texts["answers"])
            line = texts["line"].encode()
            with open(self.path / "finished.jsonl", "ab", buffering=0) as file:
                if file.write(line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def finish(self, rows: Sequence[Graded]) -> None:
        """Write the lines in their final order, the tables and the page of the class.

        Raises:
            NotStored: they cannot be written. What was stored before is valid.
        """
        stamps = {name: self.stamps[name] for name in ("sandbox", "key_hash", "vectors", "grader", "interpreter")}
        lines = "".join(self._line(row, self._answers[row.handed.id]) for row in rows)
        with _storing():
            files.save(self.path / "finished.jsonl", lines, durable=True)
            files.save(self.path / "class.csv", tables.class_csv(rows))
            files.save(self.path / "items.csv", tables.items_csv(rows))
            files.save(self.path / "pages" / "index.html", pages.classroom(rows, stamps))
            self.finished = _digest(lines)
            self._stamp()

    def _stamps_of(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """What the results of one submission say about how it was graded."""
        asked = answers["vectors"]
        vectors = vectors_hash(asked[item] for item in self.stamps["items"]) if asked else self.stamps["vectors"]
        own = {"sandbox": answers["sandbox"] or self.stamps["sandbox"], "vectors": vectors}
        return own | {name: self.stamps[name] for name in ("key_hash", "grader", "interpreter", "per_submission")}

    def _file(self, part: str, identifier: str) -> Path:
        return self.path / part / f"{identifier}{'.html' if part == 'pages' else '.json'}"

    # Reading.

    def verify(self, key: bytes, whole: bool = True) -> Folder:
        """Check that nobody without the key changed the class after it was graded.

        ``whole`` demands in addition that the class is finished and that no line and no answers are missing.

        Raises:
            NotAClass: it was changed, or graded with another key; the message names the file.
        """
        now = Exam((), key).key_hash
        if now != self.stamps["key_hash"]:
            raise NotAClass(f"{self.path} was graded with another key: {self.stamps['key_hash']}, not {now}")
        self._seal = Seal(key)
        if not self._seal.holds("class", _content_of(self.path)):
            raise NotAClass(f"{self.path}/class.json was changed after the class was graded")
        if whole and not self.finished:
            raise NotAClass(f"{self.path} is not finished: continue with grade-class --resume")
        self._answers = {row["id"]: row["answers"] for row in self._lines()}
        if whole and _digest(_read(self.path / "finished.jsonl")) != self.finished:
            advice = "continue with grade-class --resume"
            raise NotAClass(f"{self.path}/finished.jsonl was changed after the class was graded: {advice}")
        for identifier in self._answers if whole else ():
            self.answers(identifier)
        return self

    def _is_whole(self, identifier: str) -> bool:
        """Whether the files of a submission are those of its line, as far as it says; a power cut leaves empty ones."""
        try:
            self.answers(identifier)
            return all(self._file(part, identifier).stat().st_size for part in ("results", "pages"))
        except (NotAClass, OSError):
            return False

    def answers(self, identifier: str) -> dict[str, Any]:
        """The raw answers of one submission. Call :meth:`verify` first: it reads the digests to compare them with.

        Raises:
            NotAClass: they are missing, or were changed.
        """
        path = self._file("answers", identifier)
        text = _read(path)
        if _digest(text) != self._answers.get(identifier):
            raise NotAClass(f"{path} was changed after it was graded")
        return json.loads(text)

    def rows(self) -> dict[str, Graded]:
        """What is finished, by id. If a submission has two lines, the later one counts.

        Raises:
            NotAClass: a line is invalid or, once :meth:`verify` has set the key, was changed.
        """
        items = self.items()
        seen: dict[Any, Any] = {}
        rows: dict[str, Graded] = {}
        for number, row in enumerate(self._lines(), start=1):
            try:
                rows[row["id"]] = lean(graded_of(row, items), seen)
            except (KeyError, TypeError, ValueError, AttributeError):
                raise self._no_line(number) from None
        return rows

    def items(self) -> dict[str, Any]:
        """The items and questions that were asked, by id, with the points of that grading.

        Raises:
            NotAClass: one of them is not in this bank.
        """
        worth = self.stamps["points"]
        names = (*self.stamps["items"], *self.stamps["questions"])
        try:
            found: dict[str, Any] = {name: bank.find(name) for name in names}
        except KeyError as error:
            raise NotAClass(f"{self.path} was graded with another bank: {error.args[0]}") from None
        return {k: replace(one, points=worth[k]) if isinstance(one, Build) else one for k, one in found.items()}

    def _lines(self) -> Iterator[dict[str, Any]]:
        """The lines of ``finished.jsonl``; the last one is skipped if the process was killed while writing it.

        Raises:
            NotAClass: any other line is invalid, or was changed.
        """
        try:
            with open(self.path / "finished.jsonl", "rb") as file:
                for number, line in enumerate(file, start=1):
                    try:
                        row = json.loads(line)
                    except (ValueError, RecursionError):
                        if line.endswith(b"\n"):
                            raise self._no_line(number) from None
                        return
                    if type(row) is not dict or type(row.get("id")) is not str:
                        raise self._no_line(number)
                    if self._seal and not self._seal.holds("line", row):
                        raise self._no_line(number, "was changed after it was graded")
                    yield row
        except FileNotFoundError:
            return

    def _no_line(self, number: int, what: str = "is not a line of grade-class") -> NotAClass:
        advice = "remove it, and grade-class --resume grades that submission again"
        return NotAClass(f"{self.path}/finished.jsonl, line {number}, {what}: {advice}")


def opened(path: str | os.PathLike[str]) -> Folder:
    """The graded class in a folder, for reading. Only :meth:`Folder.verify` finds out whether it was changed.

    Raises:
        NotAClass: the folder contains none.
    """
    folder, content = Folder(path), _content_of(Path(path))
    folder.finished = str(content.get("finished", ""))
    folder.stamps = {name: value for name, value in content.items() if name not in (NAME, "finished")}
    folder.shard = folder.stamps["shard"]
    return folder


def _content_of(path: Path) -> dict[str, Any]:
    """The content of the ``class.json`` in a folder."""
    try:
        content = json.loads((path / "class.json").read_text(encoding="utf-8"))
        if _is_stamped(content):
            return content
    except (OSError, ValueError, RecursionError):
        pass
    raise NotAClass(f"{path} is not a graded class: it has no class.json of this version of grade-class")


def _is_stamped(content: Any) -> bool:
    if type(content) is not dict or any(type(content.get(name)) is not kind for name, kind in TYPES.items()):
        return False
    names, worth = [*content["items"], *content["questions"]], content["points"]
    numbers = all(type(points) in (int, float) for points in worth.values())
    return all(type(name) is str for name in names) and set(worth) == set(content["items"]) and numbers


def agree(kept: Mapping[str, Any], now: Mapping[str, Any], path: object, names: Sequence[str] = CORE) -> None:
    """Check that two gradings agree in the stamps ``names``.

    Raises:
        NotAClass: they do not; the message names the stamps that differ.
    """
    other = [WORDS.get(name, name) for name in names if kept[name] != now[name]]
    if other:
        raise NotAClass(f"{path} was graded with different {', '.join(other)}: it cannot be part of this class")


def joined(stamps: Iterable[Mapping[str, Any]], name: str) -> str:
    """Every value of the stamp ``name`` in some gradings, each once."""
    return " | ".join(dict.fromkeys(part for stamp in stamps for part in stamp[name].split(" | ")))


# Files.


@contextlib.contextmanager
def _storing() -> Iterator[None]:
    """Within this context, an error of the file system is :class:`NotStored`."""
    try:
        yield
    except OSError as error:
        raise NotStored(*error.args) from error


def dumped(content: Mapping[str, Any]) -> str:
    """One line of JSON."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise NotAClass(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None

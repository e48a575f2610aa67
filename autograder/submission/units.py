"""The parts of a submission, the files that may belong to it, and the refusal of those that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from autograder import syntax

#: Largest file of any kind, bytes. A larger notebook has kept its outputs.
FILE_LIMIT = 16 * 2**20
#: Most bytes of all files of one submission, unpacked.
TOTAL_LIMIT = 64 * 2**20
#: Most source code in one submission, bytes. Beyond that, the syntax tree alone takes gigabytes.
SOURCE_LIMIT = 2**20
#: Names that are skipped in folders and archives.
IGNORED = ("__MACOSX", "__pycache__", "__init__.py")
#: Suffixes of files that hold code, and of all files that are opened, in lower case. *Your course* saves a .json file.
CODE = (".py", ".ipynb")
OPENED = (*CODE, ".zip", ".json")
#: What a chapter's folder in ``labs`` is called, and the folder of the deeper pages in ``book``.
CHAPTER = re.compile(r"ch(?:apter)?[ _-]?\d\d?|deeper", re.I)
#: Folders, in lower case, whose files and chapters count besides those at the top; the first is the course's own.
PLACES = ("labs", "lab", "src", "submission", "submissions", "code", "solution", "notebooks", "book")
#: Folders, in lower case, of which nobody expects that what is in them is graded.
BESIDE = ("autograder", "benchmarks", "demos", "doc", "docs", "experiments", "rankzero", "solutions", "tools")
BESIDE += ("test", "tests", "env", "venv", "node_modules", "site-packages")
#: What to hand in, for sentences that refuse anything else.
WANTED = "hand in a .py file, a notebook (.ipynb), or a .zip of them"


@dataclass(frozen=True)
class Unit:
    """A piece of source that is compiled and run on its own, so that a broken one does not take the others with it.

    ``label`` is what a report calls it: ``"cell 4"`` (the fourth code cell) or ``"collectives.py"``. ``module`` is the
    name of its topic module (``"collectives"``) if the submission is a folder of them; None for a single file or
    notebook, whose units share one namespace. ``needed`` is None for a file that runs as a whole; the statements of a
    cell run one by one, and those at these places are needed by graded functions: if one fails, the report says so.
    """

    label: str
    source: str
    module: str | None = None
    needed: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Submission:
    """What a learner handed in, ready to be graded.

    Attributes:
        name: of the file or folder handed in.
        units: the source, in the order in which it runs.
        problems: sentences about what could not be read.
        sha256: of the file handed in; for a folder, of the names and contents of the files that count.
        answers: what was typed into ``predict`` and ``design``, by question: literals and arithmetic of literals,
            never run.
        homes: where a function stands that does not stand, written, in its topic module: another module of the
            submission, or None for the namespace that notebooks share.
    """

    name: str
    units: tuple[Unit, ...]
    problems: tuple[str, ...] = ()
    sha256: str = ""
    answers: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    homes: Mapping[str, str | None] = field(default_factory=dict)


class Unreadable(Exception):
    """The submission, or a part of it, cannot be graded at all; the message is one sentence for the learner."""


def check_file_size(name: str, data: bytes) -> None:
    """Refuse a file larger than ``FILE_LIMIT``.

    Raises:
        Unreadable: it is larger.
    """
    if len(data) > FILE_LIMIT:
        advice = "clear the outputs and save again" if name.lower().endswith(".ipynb") else "hand in your code alone"
        raise Unreadable(f"{name} is larger than 16 MiB: {advice}")


def shown(name: str) -> str:
    """A name as text that is safe to print and write: unprintable characters become ``?``."""
    text = name.encode("utf-8", "replace").decode()
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def visible(name: str) -> bool:
    """Whether a file or folder with this name is looked at, rather than skipped."""
    return not name.startswith(".") and name not in IGNORED


def candidates(paths: Iterable[str], endings: tuple[str, ...] = CODE) -> list[tuple[str, str]]:
    """The files in a folder or archive that may count, as pairs of file name and path.

    The top folder is the first one that holds more than a single folder; it may be ``labs`` itself. First come the
    files in its ``labs`` and in their chapters' folders, then those in other :data:`PLACES`, then those of the top
    folder itself, and last those in any other folder there that is not :data:`BESIDE`. Capitals do not matter.
    """
    split = [(path, PurePosixPath(path).parts) for path in paths if path.lower().endswith(endings)]
    split = [(path, parts) for path, parts in split if all(map(visible, parts))]
    top = 0
    while split and all(len(parts) > top + 1 and parts[top] == split[0][1][top] for _, parts in split):
        top += 1
    beside = [(shown(parts[-1]), path) for path, parts in split if len(parts) == top + 1]
    inside = [(path, parts[top:]) for path, parts in split if _in_labs(parts[top:])]
    inside.sort(key=lambda one: _rank(one[1][0]))
    labs = [(shown(parts[-1]), path) for path, parts in inside]
    others = [(shown(parts[-1]), path) for path, parts in split if len(parts) == top + 2 and not _is_beside(path)]
    return [*dict.fromkeys([*labs, *beside, *others])]


def _rank(folder: str) -> int:
    """0 for ``labs`` and for the folder of a chapter, 1 for any other place."""
    return int(folder.lower() in PLACES[1:])


def _in_labs(parts: Sequence[str]) -> bool:
    """Whether a path below the top folder is a lab's: ``labs/zero.py``, ``labs/ch05/zero.py``, ``ch05/zero.py``."""
    below = parts[1:] if parts[0].lower() in PLACES else parts
    if len(below) == 2:
        return bool(CHAPTER.fullmatch(below[0]))
    return len(below) == 1 and len(parts) == 2


#: Where code is looked for, for sentences about other places.
WHERE = "code is looked for only at the top, in folders there such as labs, src or book, and in their chapters (ch05)"


def elsewhere(paths: Iterable[str]) -> str:
    """That code was found, but where none is looked for; empty if no code was found."""
    code = _code(paths)
    return f"holds {_first(code)}, but {WHERE}: hand in your labs like that" if code else ""


def left_out(paths: Iterable[str]) -> list[str]:
    """A sentence about code that is not read although other code is; none about folders that are no hand-in."""
    paths = list(paths)
    read = {path for _, path in candidates(paths)}
    code = [path for path in _code(paths) if path not in read and not _is_beside(path)]
    return [f"{_first(code)} {'are' if len(code) > 1 else 'is'} not read: {WHERE}"] if code and read else []


def _code(paths: Iterable[str]) -> list[str]:
    endings = [path for path in paths if path.lower().endswith(CODE)]
    return sorted(path for path in endings if all(map(visible, PurePosixPath(path).parts)))


def _first(code: Sequence[str]) -> str:
    more = f" and {len(code) - 1} more" if len(code) > 1 else ""
    return shown(code[0])[-80:] + more


def _is_beside(path: str) -> bool:
    return any(part.lower() in BESIDE for part in PurePosixPath(path).parts[:-1])


def decode(file: str, data: bytes) -> str:
    """The text of a source file: UTF-8 with or without a byte-order mark, any line ends."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(f"{file} is saved as UTF-16: save it as UTF-8")
    if b"\0" in data:
        raise Unreadable(f"{file} holds null bytes, so it is not text: save it as a .py file in UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"{file} is not UTF-8 (line {line}): save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_size(name: str, sources: Iterable[str]) -> None:
    """Refuse more code than a submission needs, before its syntax tree is built.

    Raises:
        Unreadable: the sources are larger than ``SOURCE_LIMIT`` together, or more than a submission needs.
    """
    sources = list(sources)
    if sum(map(len, sources)) > SOURCE_LIMIT:
        raise Unreadable(f"{name} holds more than 1 MiB of code: hand in your labs alone")
    if syntax.too_much(*sources):
        raise Unreadable(f"{name} holds more code than a submission needs: hand in your labs alone")

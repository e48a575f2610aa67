"""What a learner handed in, as text: found in a file, a notebook, a folder or an archive, and never run here.

A ``.py`` file is kept whole: it is a module, and a module's own top-level code may run (in the child). Of a notebook
only imports, definitions and constants are kept (:mod:`autograder.notebook`), also of one that was saved as a ``.py``
file (:mod:`autograder.script`); a file named like a topic module is no such file. A folder or an archive holds topic
modules named like those in ``labs``, notebooks, or both; its other Python files stay importable beside them, as parts
of ``labs``, so that they never shadow a real module. An archive in a folder counts like the files in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.versions import Version

#: Largest file of any kind, bytes: a notebook above it has kept its outputs.
FILE_LIMIT = 16 * 2**20
#: Most bytes of all files of one submission, unpacked.
TOTAL_LIMIT = 64 * 2**20
#: Most source text of one submission, bytes: beyond it a syntax tree alone takes gigabytes.
SOURCE_LIMIT = 2**20
#: Most seconds of this thread's own time for the files of one submission, each of which is bounded by its size.
READING = 30.0
#: Most files looked at in a folder.
WALK_LIMIT = 20_000
#: What is passed over in folders and archives.
IGNORED = ("__MACOSX", "__pycache__", "__init__.py")
#: Endings of the files that hold code, and of those that are opened, in small letters.
CODE = (".py", ".ipynb")
OPENED = (*CODE, ".zip")
#: What a chapter's folder in ``labs`` is called.
CHAPTER = re.compile(r"ch\d\d")
#: What to hand in, for sentences that refuse something else.
WANTED = "hand in a .py file, a notebook (.ipynb), or a .zip of them"


@dataclass(frozen=True)
class Unit:
    """A piece of source that is compiled and run on its own, so that a broken one costs only itself.

    ``label`` is what a report calls it: ``"cell 4"`` (the fourth code cell) or ``"collectives.py"``. ``module`` is the
    topic module it stands for when the submission is a folder of them (``"collectives"``); None for a single file or
    notebook, whose units share one namespace.
    """

    label: str
    source: str
    module: str | None = None


@dataclass(frozen=True)
class Submission:
    """What there is to grade.

    Attributes:
        name: of the file or folder handed in.
        units: the source, in the order in which it runs.
        problems: sentences about parts that could not be read.
        sha256: of what was handed in (for a folder: of the names and contents of the files that count).
        answers: what was typed into ``predict``, by question: literals and arithmetic of literals, never run.
    """

    name: str
    units: tuple[Unit, ...]
    problems: tuple[str, ...] = ()
    sha256: str = ""
    answers: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


class Unreadable(Exception):
    """The submission, or a part of it, cannot be graded at all; the message is one sentence for the learner."""


def load(path: str | Path, topics: Collection[str] | None = None) -> Submission:
    """The submission at ``path``: a ``.py`` file, a notebook, a zip archive or a folder.

    ``topics`` are the names of topic modules; those of the bank when left out.

    Raises:
        Unreadable: it cannot be graded at all, with one sentence that says why.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return load_files(path.resolve().name, _folder_files(path), topics)
        if not path.exists():
            raise Unreadable(f"there is no file or folder {path.name!r}")
        return load_file(path.name, partial(read, path), topics)
    except OSError as error:
        raise Unreadable(_unopened(path.name, error)) from None


def load_file(name: str, content: Callable[[], bytes], topics: Collection[str] | None = None) -> Submission:
    """The submission that is one file: ``content`` reads it, once its name says that it is of a kind that is read.

    Raises:
        Unreadable: as for :func:`load`.
    """
    name = shown(name)
    if not name.lower().endswith(OPENED):
        raise Unreadable(
            f"{name} is not a .py file, a notebook (.ipynb), a folder or a .zip archive: hand in one of these"
        )
    data = content()
    check_file_size(name, data)
    sha256 = hashlib.sha256(data).hexdigest()
    if name.lower().endswith(".zip"):
        from autograder import archive

        return _assemble(name, archive.unpack(data), topics, sha256, [], ())
    units, problems, answers = _parts(name, data, None, topics)
    return _bounded(Submission(name, units, problems, sha256, answers))


def load_files(
    name: str,
    files: Mapping[str, Callable[[], bytes]],
    topics: Collection[str] | None = None,
    order: Sequence[str] = (),
) -> Submission:
    """The submission called ``name`` that is made of ``files``: what reads each, by its path in the submission.

    A file that cannot be read costs only itself. An archive among them counts like the files in it; a file that stands
    beside it wins. Of several versions of a file, :func:`autograder.versions.settle` says which counts; ``order`` names
    those of which it is known when they were handed in, the newest last.

    Raises:
        Unreadable: as for :func:`load`.
    """
    found: list[Version] = []
    problems: list[str] = []
    for file, path in [*candidates(files), *sorted(candidates(files, (".zip",)))]:
        try:
            found += _opened(file, shown(path), files[path]())
        except Unreadable as error:
            problems.append(f"{file}: {error}" if file not in str(error) else str(error))
            continue
        except OSError as error:
            problems.append(_unopened(file, error))
            continue
        if sum(len(version.data) for version in found) > TOTAL_LIMIT:
            raise Unreadable(f"{shown(name)} holds more than 64 MiB: clear the outputs, and hand in your labs alone")
    if problems and not found:
        raise Unreadable(problems[0])
    return _assemble(shown(name), found, topics, "", problems, order)


def _opened(file: str, where: str, data: bytes) -> list[Version]:
    """The file itself, or the files of an archive."""
    from autograder import archive
    from autograder.versions import Version

    check_file_size(file, data)
    if not file.lower().endswith(".zip"):
        return [Version(file, where, data)]
    return [replace(inner, where=f"{where}/{inner.where}") for inner in archive.unpack(data)]


def _unopened(name: str, error: OSError) -> str:
    return f"{shown(name)} cannot be opened: {error.strerror or type(error).__name__}"


def read(path: Path) -> bytes:
    """The bytes of one regular file, and at most one more than ``FILE_LIMIT``.

    Raises:
        Unreadable: it is a pipe or a device.
        OSError: it cannot be opened.
    """
    if not path.is_file():
        raise Unreadable(f"{shown(path.name)} is not a regular file: {WANTED}")
    with path.open("rb") as file:
        return file.read(FILE_LIMIT + 1)


def check_file_size(name: str, data: bytes) -> None:
    """Refuse a file above ``FILE_LIMIT``.

    Raises:
        Unreadable: it is.
    """
    if len(data) > FILE_LIMIT:
        advice = "clear the outputs and save again" if name.lower().endswith(".ipynb") else "hand in your code alone"
        raise Unreadable(f"{name} is larger than 16 MiB: {advice}")


def shown(name: str) -> str:
    """A name as text that can be shown and written anywhere: without broken letters and control characters."""
    text = name.encode("utf-8", "replace").decode()
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return digest.hexdigest()


def _folder_files(root: Path) -> dict[str, Callable[[], bytes]]:
    """What reads each file of a folder that may count, by its path in it; links are passed over."""
    paths: list[str] = []
    seen = 0
    for folder, names, files in os.walk(root):
        here = Path(folder).relative_to(root)
        names[:] = sorted(n for n in names if visible(n)) if len(here.parts) < 4 else []
        paths += [(here / file).as_posix() for file in sorted(files) if file.lower().endswith(OPENED)]
        seen += len(files)
        if seen > WALK_LIMIT:
            raise Unreadable(f"{shown(root.name)} holds too many files: hand in the folder of your labs alone")
    return {path: partial(read, root / path) for path in paths if not (root / path).is_symlink()}


def visible(name: str) -> bool:
    """Whether a file or folder of this name is looked at."""
    return not name.startswith(".") and name not in IGNORED


def candidates(paths: Iterable[str], endings: tuple[str, ...] = CODE) -> list[tuple[str, str]]:
    """Of the paths in a folder or archive, those that may count, each after its file's name.

    Those of ``labs`` in the top folder (inside folders that hold nothing else) and of its chapters' folders, then those
    of the top folder itself. The top folder may be ``labs``.
    """
    split = [(path, PurePosixPath(path).parts) for path in paths if path.lower().endswith(endings)]
    split = [(path, parts) for path, parts in split if all(map(visible, parts))]
    top = 0
    while split and all(len(parts) > top + 1 and parts[top] == split[0][1][top] for _, parts in split):
        top += 1
    beside = [(shown(parts[-1]), path) for path, parts in split if len(parts) == top + 1]
    labs = [(shown(parts[-1]), path) for path, parts in split if _in_labs(parts[top:])]
    return labs + [one for one in beside if one not in labs]


def _in_labs(parts: Sequence[str]) -> bool:
    """Whether a path below the top folder is a lab's: ``labs/zero.py``, ``labs/ch05/zero.py``, ``ch05/zero.py``."""
    below = parts[1:] if parts[0] == "labs" else parts
    if len(below) == 2:
        return bool(CHAPTER.fullmatch(below[0]))
    return len(below) == 1 and len(parts) == 2


def _assemble(
    name: str,
    versions: Sequence[Version],
    topics: Collection[str] | None,
    sha256: str,
    problems: list[str],
    order: Sequence[str],
) -> Submission:
    """One submission of several files: topic modules by name, and notebooks, which share one namespace."""
    from autograder.versions import settle

    if not versions:
        raise Unreadable(f"{name} holds no .py file and no notebook: {WANTED}")
    known = _bank_topics() if topics is None else topics
    files, notes = settle(versions, known, order)
    problems, sha256 = [*problems, *notes], sha256 or _digest(files)
    modules = _module_names(files, known)
    units: list[Unit] = []
    unread = []
    answers: dict[str, tuple[Any, ...]] = {}
    began = time.thread_time()
    for file, data in sorted(files.items()):
        if time.thread_time() - began > READING:
            raise Unreadable(f"{name} takes more than {READING:.0f} s to be read: hand in your labs alone")
        try:
            more, sentences, typed = _parts(file, data, modules.get(file), topics)
        except Unreadable as error:
            unread.append(str(error))
            continue
        label = f"{file} " if file.lower().endswith(".ipynb") and len(files) > 1 else ""
        units += [Unit(label + unit.label, unit.source, unit.module) for unit in more]
        problems = [*problems, *(label + sentence for sentence in sentences)]
        answers |= typed
    if len(unread) == len(files):
        raise Unreadable(unread[0])
    return _bounded(Submission(name, tuple(units), (*problems, *unread), sha256, answers))


def _module_names(files: Iterable[str], topics: Collection[str]) -> dict[str, str | None]:
    """The module each ``.py`` file stands for; none does when no file is named like a topic."""
    stems = {file: file[:-3] for file in files if file.lower().endswith(".py")}
    if not set(stems.values()) & set(topics):
        return {}
    return {file: stem for file, stem in stems.items() if stem.isidentifier()}


def _bank_topics() -> set[str]:
    from autograder import bank

    return {item.module for item in (*bank.builds(), *(milestone.item for milestone in bank.milestones()))}


def _parts(
    file: str, data: bytes, module: str | None, topics: Collection[str] | None
) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, Any]]:
    """Units, problems and typed answers of one file."""
    from autograder import notebook, script

    if data.startswith(b"PK\x03\x04"):
        raise Unreadable(f"{file} is a zip archive: rename it so that it ends in .zip")
    if file.lower().endswith(".ipynb"):
        return notebook.parts(file, data)
    source = decode(file, data)
    if notebook.recognise(source):
        raise Unreadable(f"{file} is a notebook: rename it so that it ends in .ipynb")
    check_size(file, [source])
    if not module and script.recognise(source) and file[:-3] not in (_bank_topics() if topics is None else topics):
        return script.parts(file, source)
    return (Unit(file, source, module),), (), notebook.answers(source)


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
    """Refuse more code than a submission needs, before a syntax tree of it is made.

    Raises:
        Unreadable: it is above ``SOURCE_LIMIT``.
    """
    if sum(map(len, sources)) > SOURCE_LIMIT:
        raise Unreadable(f"{name} holds more than 1 MiB of code: hand in your labs alone")


def _bounded(submission: Submission) -> Submission:
    check_size(submission.name, (unit.source for unit in submission.units))
    return submission

"""Find the code in a submission: a file, a notebook, a folder or an archive. Nothing is run here.

A ``.py`` file is kept whole: it is a module, whose top-level code may run (in the child). Of a notebook only imports,
definitions, constants and what else a graded function needs are kept (``notebook``), even if it was saved as a ``.py``
file (``script``), unless that file is named like a topic module. A folder or an archive holds topic modules named like
those in ``labs``, notebooks, or both. Its other Python files can be imported as parts of ``labs``, so that they never
shadow a real module. An archive in a folder counts like the files in it. So does the file that the page *Your course*
saves (``course``).
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from autograder import bank
from autograder.submission import archive, course, homes, magics, notebook, script
from autograder.submission.units import (
    FILE_LIMIT,
    OPENED,
    TOTAL_LIMIT,
    WANTED,
    Submission,
    Unit,
    Unreadable,
    candidates,
    check_file_size,
    check_size,
    decode,
    elsewhere,
    left_out,
    shown,
    visible,
)
from autograder.submission.versions import Version, settle

#: The name of a file that a browser or a mail program has given another ending.
RENAMED = re.compile(r"(.+\.(?:ipynb|py))\.(?!(?:zip|py|ipynb)$)[^.]+$", re.I)
#: Most seconds of CPU time for reading the files of one submission.
READING = 30.0
#: Most files looked at in a folder.
WALK_LIMIT = 20_000


def load(path: str | Path, topics: Collection[str] | None = None) -> Submission:
    """The submission at ``path``: a ``.py`` file, a notebook, a zip archive or a folder.

    ``topics`` are the names of topic modules, by default those of the bank.

    Raises:
        Unreadable: it cannot be graded at all; the message is one sentence that says why.
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
    """A submission that is a single file. ``content`` reads it and is called only if the file's kind is one we accept.

    Raises:
        Unreadable: as for :func:`load`.
    """
    name = shown(name)
    kinds = f"{name} is not a .py file, a notebook (.ipynb), a folder or a .zip archive"
    if renamed := RENAMED.match(name):
        raise Unreadable(f"{kinds} by its name: rename it to {renamed[1]}")
    if not name.lower().endswith(OPENED):
        raise Unreadable(f"{kinds}: hand in one of these")
    data = content()
    check_file_size(name, data)
    sha256 = hashlib.sha256(data).hexdigest()
    if name.lower().endswith(".zip"):
        return _assemble(name, archive.unpack(data), topics, sha256, archive.left_out(data), ())
    if name.lower().endswith(".json"):
        if course.recognise(data):
            return _assemble(name, [Version(name, name, data)], topics, sha256, [], ())
        if notebook.recognise(decode(name, data)):
            raise Unreadable(f"{name} is a notebook: rename it so that it ends in .ipynb")
        raise Unreadable(f"{kinds}, nor was it saved by the page Your course: hand in one of these")
    units, problems, answers = _parts(name, data, None, topics)
    return _bounded(Submission(name, units, problems, sha256, answers))


def load_files(
    name: str,
    files: Mapping[str, Callable[[], bytes]],
    topics: Collection[str] | None = None,
    order: Sequence[str] = (),
) -> Submission:
    """A submission of several files. One that cannot be read is reported, and the others still count.

    Args:
        name: of the submission.
        files: a function that reads each file, by the file's path in the submission. An archive counts like the files
            in it; a file beside it wins over one of the same name inside. Of several versions of a file,
            ``versions.settle`` says which counts.
        topics: names of topic modules, by default those of the bank.
        order: the names of files whose order of submission is known, the newest last.

    Raises:
        Unreadable: as for :func:`load`.
    """
    found: list[Version] = []
    problems: list[str] = []
    inside: list[str] = []
    saved = candidates(files, (".json",))
    for file, path in [*candidates(files), *saved, *sorted(candidates(files, (".zip",)))]:
        try:
            data = files[path]()
            found += _opened(file, shown(path), data)
            inside += archive.left_out(data) if path.lower().endswith(".zip") else []
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
    if not found and (sentence := elsewhere(files)):
        raise Unreadable(f"{shown(name)} {sentence}")
    return _assemble(shown(name), found, topics, "", [*problems, *left_out(files), *inside], order)


def _opened(file: str, where: str, data: bytes) -> list[Version]:
    """The file itself, or the files in it if it is an archive."""
    check_file_size(file, data)
    if file.lower().endswith(".json") and not course.recognise(data):
        return []
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


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return digest.hexdigest()


def _folder_files(root: Path) -> dict[str, Callable[[], bytes]]:
    """A function that reads each file of a folder that may count, by its path in the folder; links are skipped."""
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


def _assemble(
    name: str,
    versions: Sequence[Version],
    topics: Collection[str] | None,
    sha256: str,
    problems: list[str],
    order: Sequence[str],
) -> Submission:
    """One submission made of several files: topic modules by name, and notebooks, which share one namespace."""
    if not versions:
        raise Unreadable(f"{name} holds no .py file and no notebook: {WANTED}")
    known = _bank_topics() if topics is None else topics
    files, notes = settle(list(filter(_is_more_than_read, versions)) or versions, known, order)
    problems, sha256 = [*problems, *notes], sha256 or _digest(files)
    modules = _module_names(files, known)
    parts: dict[str, list[Unit]] = {}
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
        parts[file] = [replace(unit, label=label + unit.label) for unit in more]
        problems = [*problems, *(label + sentence for sentence in sentences)]
        answers = notebook.merged(answers, typed)
    if len(unread) == len(files):
        raise Unreadable(unread[0])
    units, places, said = homes.settle(parts, _functions())
    return _bounded(Submission(name, units, (*problems, *said, *unread), sha256, answers, places))


def _is_more_than_read(version: Version) -> bool:
    """Whether a file is more than a page of the course in which somebody has only read."""
    folder = PurePosixPath(version.where).parent.name.lower()
    if folder not in ("book", "deeper") or not version.title.lower().endswith(".ipynb"):
        return True
    try:
        units, problems, typed = notebook.parts(version.title, version.data)
    except Unreadable:
        return True
    written = [one for one in homes.defined(version.title, units, _functions()).values() if not one.stub]
    return bool(written or problems or any(typed.values()))


def _module_names(files: Iterable[str], topics: Collection[str]) -> dict[str, str | None]:
    """The module name of each ``.py`` file. Empty if no file is named like a topic: then all share one namespace."""
    stems = {file: file[:-3] for file in files if file.lower().endswith(".py")}
    if not set(stems.values()) & set(topics):
        return {}
    return {file: stem for file, stem in stems.items() if stem.isidentifier()}


def _functions() -> Mapping[str, str]:
    """The topic module of each function that the course grades."""
    return {item.function: item.module for item in (*bank.builds(), *bank.on_request())}


def _bank_topics() -> set[str]:
    return {item.module for item in (*bank.builds(), *bank.on_request())}


def _parts(
    file: str, data: bytes, module: str | None, topics: Collection[str] | None
) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, Any]]:
    """Units, problems and typed answers of one file."""
    if data.startswith(b"PK\x03\x04"):
        raise Unreadable(f"{file} is a zip archive: rename it so that it ends in .zip")
    if file.lower().endswith(".ipynb"):
        return notebook.parts(file, data)
    if file.lower().endswith(".json"):
        return course.parts(file, data)
    source = decode(file, data)
    if notebook.recognise(source):
        raise Unreadable(f"{file} is a notebook: rename it so that it ends in .ipynb")
    check_size(file, [source])
    if not module and script.recognise(source) and file[:-3] not in (_bank_topics() if topics is None else topics):
        return script.parts(file, source)
    source = magics.without_calls(source)
    return (Unit(file, source, module),), (), notebook.answers(source)


def _bounded(submission: Submission) -> Submission:
    check_size(submission.name, (unit.source for unit in submission.units))
    return submission

"""What a learner handed in, as text: found in a file, a notebook, a folder or an archive, and never run here.

A ``.py`` file is kept whole: it is a module, and a module's own top-level code may run (in the child). Of a notebook
only imports, definitions and constants are kept (:mod:`autograder.notebook`). A folder or an archive holds topic
modules named like those in ``labs``, notebooks, or both; its other Python files stay importable beside them, as parts
of ``labs``, so that they never shadow a real module.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

#: Largest file of any kind, bytes: a notebook above it has kept its outputs.
FILE_LIMIT = 16 * 2**20
#: Most source text of one submission, bytes: beyond it a syntax tree alone takes gigabytes.
SOURCE_LIMIT = 2**20
#: Most files looked at in a folder.
WALK_LIMIT = 20_000
#: What is passed over in folders and archives.
IGNORED = ("__MACOSX", "__pycache__", "__init__.py")


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
            files = _folder_files(path)
            return _assemble(path.resolve().name, files, topics, _digest(files))
        if not path.exists():
            raise Unreadable(f"there is no file or folder {path.name!r}")
        data = _read(path)
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be opened: {error.strerror or type(error).__name__}") from None
    sha256 = hashlib.sha256(data).hexdigest()
    if path.suffix == ".zip":
        from autograder import archive

        return _assemble(path.name, archive.unpack(data), topics, sha256)
    units, problems, answers = _parts(path.name, data, None)
    return _bounded(Submission(path.name, units, problems, sha256, answers))


def _read(path: Path) -> bytes:
    """The bytes of one regular file of bounded size."""
    if path.suffix not in (".py", ".ipynb", ".zip"):
        raise Unreadable(f"{path.name} is not a .py file, a notebook (.ipynb), a folder or a .zip archive")
    if not path.is_file():
        raise Unreadable(f"{path.name} is not a regular file")
    with path.open("rb") as file:
        data = file.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        advice = "clear the outputs and save again" if path.suffix == ".ipynb" else "hand in your code alone"
        raise Unreadable(f"{path.name} is larger than 16 MiB: {advice}")
    return data


def _digest(files: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogateescape") + data)
    return digest.hexdigest()


def _folder_files(root: Path) -> dict[str, bytes]:
    """The Python files and notebooks of a folder that count, by file name; links are passed over."""
    paths: list[str] = []
    for folder, names, files in os.walk(root):
        here = Path(folder).relative_to(root)
        names[:] = sorted(n for n in names if visible(n)) if len(here.parts) < 4 else []
        paths += [(here / file).as_posix() for file in sorted(files) if file.endswith((".py", ".ipynb"))]
        if len(paths) > WALK_LIMIT:
            raise Unreadable(f"{root.name} holds too many files: hand in the folder of your labs alone")
    chosen = choose(path for path in paths if not (root / path).is_symlink())
    return {name: _read(root / path) for name, path in chosen.items()}


def visible(name: str) -> bool:
    """Whether a file or folder of this name is looked at."""
    return not name.startswith(".") and name not in IGNORED


def choose(paths: Iterable[str]) -> dict[str, str]:
    """Of the paths in a folder or archive, those that count, by file name.

    Those of the top folder (inside folders that hold nothing else) and those of ``labs`` in it, which win.
    """
    split = [(path, PurePosixPath(path).parts) for path in paths if path.endswith((".py", ".ipynb"))]
    split = [(path, parts) for path, parts in split if all(map(visible, parts))]
    top = 0
    while split and all(len(parts) > top + 1 and parts[top] == split[0][1][top] for _, parts in split):
        top += 1
    chosen = {parts[-1]: path for path, parts in split if len(parts) == top + 1}
    return chosen | {parts[-1]: path for path, parts in split if len(parts) == top + 2 and parts[top] == "labs"}


def _assemble(name: str, files: Mapping[str, bytes], topics: Collection[str] | None, sha256: str) -> Submission:
    """One submission of several files: topic modules by name, and notebooks, which share one namespace."""
    if not files:
        raise Unreadable(f"{name} holds no .py file and no notebook")
    modules = _module_names(files, _bank_topics() if topics is None else topics)
    units: list[Unit] = []
    problems: list[str] = []
    answers: dict[str, tuple[Any, ...]] = {}
    for file, data in sorted(files.items()):
        try:
            more, sentences, typed = _parts(file, data, modules.get(file))
        except Unreadable as error:
            problems.append(str(error))
            continue
        label = f"{file} " if file.endswith(".ipynb") and len(files) > 1 else ""
        units += [Unit(label + unit.label, unit.source, unit.module) for unit in more]
        problems += [label + sentence for sentence in sentences]
        answers |= typed
    if problems and not units:
        raise Unreadable(problems[0])
    return _bounded(Submission(name, tuple(units), tuple(problems), sha256, answers))


def _module_names(files: Iterable[str], topics: Collection[str]) -> dict[str, str | None]:
    """The module each ``.py`` file stands for; none does when no file is named like a topic."""
    stems = {file: file[:-3] for file in files if file.endswith(".py")}
    if not set(stems.values()) & set(topics):
        return {}
    return {file: stem for file, stem in stems.items() if stem.isidentifier()}


def _bank_topics() -> set[str]:
    from autograder import bank

    return {item.module for item in bank.builds()}


def _parts(file: str, data: bytes, module: str | None) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, Any]]:
    """Units, problems and typed answers of one file."""
    from autograder import notebook

    if file.endswith(".ipynb"):
        return notebook.parts(file, data)
    source = decode(file, data)
    check_size(file, [source])
    return (Unit(file, source, module),), (), notebook.answers(source)


def decode(file: str, data: bytes) -> str:
    """The text of a source file: UTF-8 with or without a byte-order mark, any line ends."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unreadable(f"{file} is saved as UTF-16: save it as UTF-8")
    if b"\0" in data:
        raise Unreadable(f"{file} holds null bytes: it is not a text file")
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

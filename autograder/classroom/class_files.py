"""The folder or zip archive that holds a class: the names at its top level, and how to read them. Follows no link."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from autograder.submission import Unreadable, archive, shown

#: Files that operating systems leave behind, in lower case.
LITTER = {"__macosx", "desktop.ini", "thumbs.db"}
#: How many bytes of a metadata file are read at most; Gradescope's includes the results of all earlier runs.
TEXT_LIMIT = 256 * 2**20


@dataclass(frozen=True)
class Entry:
    """One name at the top level of a class: a file or a folder.

    When the class is an archive, ``inside`` maps each file's path within this entry to its path in the archive. For a
    class on disk it is empty: the folder is read when the submission is loaded.
    """

    name: str
    folder: bool = False
    link: bool = False
    inside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Class:
    """A folder or archive that holds a class, and the entries at its top level."""

    path: Path
    entries: Mapping[str, Entry]
    zipped: bool = False

    def text(self, name: str) -> bytes:
        """The content of a file at the top level, up to :data:`TEXT_LIMIT` bytes."""
        with self._open(self.entries[name]) as file:
            return file.read(TEXT_LIMIT)

    def within(self, entry: Entry) -> Class:
        """A folder at the top level, read as a class of its own."""
        if self.zipped:
            return Class(self.path, _entries(entry.inside.items()), zipped=True)
        return open_class(self.path / entry.name)

    def opened(self, entry: Entry) -> Class | None:
        """An archive at the top level, as a class whose names can be inspected; None if it is no readable archive."""
        if not entry.name.lower().endswith(".zip") or entry.folder or entry.link:
            return None
        try:
            with self._open(entry) as file:
                names = archive.names(file)
        except (Unreadable, OSError):
            return None
        return Class(Path(entry.name), _entries((name, name) for name in names), zipped=True)

    @contextlib.contextmanager
    def _open(self, entry: Entry) -> Iterator[IO[bytes]]:
        """A file at the top level, opened for reading."""
        if not self.zipped:
            with (self.path / entry.name).open("rb") as file:
                yield file
            return
        with self.path.open("rb") as outer, archive.opened(outer) as packed, packed.open(entry.inside[""]) as inner:
            yield inner


def open_class(path: Path) -> Class:
    """The class at ``path``, without hidden files and files that operating systems leave behind.

    Raises:
        Unreadable: ``path`` is neither a folder nor a readable archive.
        OSError: ``path`` cannot be opened.
    """
    if path.is_dir():
        entries = [
            Entry(entry.name, entry.is_dir(), entry.is_symlink()) for entry in path.iterdir() if _counts(entry.name)
        ]
        return Class(path, {entry.name: entry for entry in entries})
    if path.suffix.lower() != ".zip":
        raise Unreadable(f"{shown(path.name)} is neither a folder nor a .zip archive: name the one with the class")
    with path.open("rb") as file, archive.opened(file) as packed:
        places = packed.namelist()
    # Below the top level, an unsafe path is rejected together with the submission that contains it.
    outside = [place for place in places if archive.is_outside(place.partition("/")[0] or "/")]
    if outside:
        raise Unreadable(f"{shown(path.name)} holds a path outside itself ({shown(outside[0])}): unpack and check it")
    if len(set(places)) < len(places):
        raise Unreadable(f"{shown(path.name)} holds two entries of the same name: unpack and check it")
    return Class(path, _entries((place, place) for place in places), zipped=True)


def _entries(places: Iterable[tuple[str, str]]) -> dict[str, Entry]:
    """The entries at the top level, derived from the paths of all files."""
    inside: dict[str, dict[str, str]] = defaultdict(dict)
    for path, place in places:
        top, slash, rest = path.partition("/")
        if _counts(top):
            inside[top] |= {rest: place} if rest or not slash else {}
    return {top: Entry(top, set(files) != {""}, False, files) for top, files in inside.items()}


def _counts(name: str) -> bool:
    return bool(name) and not name.startswith(".") and name.lower() not in LITTER

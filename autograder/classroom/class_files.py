"""A class as it lies there, a folder or one archive: the names at its top, and what reads them. No link is followed."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from autograder import archive
from autograder.submission import Unreadable, shown

#: What the systems of learners and instructors leave behind, in small letters.
LITTER = {"__macosx", "desktop.ini", "thumbs.db"}
#: Most bytes that are read of a description of a class, with the results of all earlier runs.
TEXT_LIMIT = 256 * 2**20


@dataclass(frozen=True)
class Entry:
    """One name at the top of a class: a file or folder.

    ``inside`` is where its files stand in the archive of the class, by their path in this folder; empty for a folder on
    disk, which is looked at when it is loaded.
    """

    name: str
    folder: bool = False
    link: bool = False
    inside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Class:
    """A class as it lies there: a folder or one archive, and what stands at its top."""

    path: Path
    entries: Mapping[str, Entry]
    zipped: bool = False

    def text(self, name: str) -> bytes:
        """The bytes of a file at the top."""
        with self._open(self.entries[name]) as file:
            return file.read(TEXT_LIMIT)

    def within(self, entry: Entry) -> Class:
        """The class that stands in a folder at the top of this one."""
        if self.zipped:
            return Class(self.path, _entries(entry.inside.items()), zipped=True)
        return open_class(self.path / entry.name)

    def opened(self, entry: Entry) -> Class | None:
        """What an archive at the top holds, to look at its names alone; None when it is none that can be read."""
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
        """The bytes of a file at the top."""
        if not self.zipped:
            with (self.path / entry.name).open("rb") as file:
                yield file
            return
        with self.path.open("rb") as outer, archive.opened(outer) as packed, packed.open(entry.inside[""]) as inner:
            yield inner


def open_class(path: Path) -> Class:
    """The class at ``path``: what stands there, without what systems leave behind.

    Raises:
        Unreadable: it is neither a folder nor an archive that can be read.
        OSError: it cannot be opened.
    """
    if path.is_dir():
        entries = [Entry(one.name, one.is_dir(), one.is_symlink()) for one in path.iterdir() if _counts(one.name)]
        return Class(path, {entry.name: entry for entry in entries})
    if path.suffix.lower() != ".zip":
        raise Unreadable(f"{shown(path.name)} is neither a folder nor a .zip archive: name what holds the class")
    with path.open("rb") as file, archive.opened(file) as packed:
        places = packed.namelist()
    # Below the top, a strange path is refused with the submission that it stands in.
    outside = [place for place in places if archive.is_outside(place.partition("/")[0] or "/")]
    if outside:
        raise Unreadable(f"{shown(path.name)} holds a path outside itself ({shown(outside[0])}): unpack it and look")
    if len(set(places)) < len(places):
        raise Unreadable(f"{shown(path.name)} holds two entries of one name: unpack it and look")
    return Class(path, _entries((place, place) for place in places), zipped=True)


def _entries(places: Iterable[tuple[str, str]]) -> dict[str, Entry]:
    """What stands at the top, from the paths of all files."""
    inside: dict[str, dict[str, str]] = defaultdict(dict)
    for path, place in places:
        top, slash, rest = path.partition("/")
        if _counts(top):
            inside[top] |= {rest: place} if rest or not slash else {}
    return {top: Entry(top, set(files) != {""}, False, files) for top, files in inside.items()}


def _counts(name: str) -> bool:
    return bool(name) and not name.startswith(".") and name.lower() not in LITTER

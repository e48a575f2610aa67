"""Zip archives, read in memory: nothing is unpacked to disk, and every refusal is one sentence for the learner."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO

from autograder.submission import course, units
from autograder.submission.units import (
    FILE_LIMIT,
    TOTAL_LIMIT,
    Unreadable,
    candidates,
    check_file_size,
    elsewhere,
    shown,
)
from autograder.submission.versions import Version

#: Most entries in the archive of one submission.
ENTRY_LIMIT = 200
#: Most entry headers in an archive that is opened at all: those of ``__pycache__`` and ``__MACOSX`` are passed over.
HEADER_LIMIT = 20 * ENTRY_LIMIT
#: Most entries in the archive of a class.
CLASS_LIMIT = 1000 * ENTRY_LIMIT
#: The bytes with which the header of an entry starts in the archive's directory.
_HEADER = b"PK\x01\x02"
#: Flags of an encrypted entry: traditional and strong encryption.
_ENCRYPTED = 0x1 | 0x40
#: Everything that the library raises for a damaged archive or another kind of file.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OSError, RuntimeError),
    *(AssertionError, IndexError, OverflowError, MemoryError),
)


def unpack(data: bytes) -> list[Version]:
    """The Python files and notebooks in an archive that may count; of two with the same name, the likelier comes first.

    Raises:
        Unreadable: it is not an archive, is damaged, or holds what no submission needs.
    """
    if data.count(_HEADER) > HEADER_LIMIT:  # checked before the library makes an object for each
        raise _too_many(data.count(_HEADER))
    with opened(io.BytesIO(data)) as archive:
        entries = [entry for entry in archive.infolist() if _counts(entry)]
        if len(entries) > ENTRY_LIMIT:
            raise _too_many(len(entries))
        check(entries)
        paths = {path_of(entry): entry for entry in entries if not entry.is_dir()}
        chosen = candidates(paths)
        nested = [path for path in paths if path.lower().endswith(".zip")]
        if nested and not chosen:
            inner = shown(PurePosixPath(nested[0]).name)
            raise Unreadable(
                f"the archive holds no .py file and no notebook, but an archive ({inner}): hand in that one"
            )
        saved = [(name, path) for name, path in candidates(paths, (".json",)) if paths[path].file_size <= FILE_LIMIT]
        chosen += [(name, path) for name, path in saved if course.recognise(content(archive, paths[path]))]
        if not chosen and (sentence := elsewhere(paths)):
            raise Unreadable(f"the archive {sentence}")
        return [Version(name, shown(path), content(archive, paths[path])) for name, path in chosen]


def _counts(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry is looked at: not what Python, Jupyter and a Mac put beside the files that a learner wrote."""
    path = path_of(entry)
    return is_outside(path) or all(map(units.visible, PurePosixPath(path).parts))


def left_out(data: bytes) -> list[str]:
    """A sentence about code in an archive that :func:`unpack` does not read."""
    with opened(io.BytesIO(data)) as archive:
        return units.left_out(path_of(entry) for entry in archive.infolist())


def names(file: IO[bytes]) -> list[str]:
    """The names of the entries in an archive, which may be that of a whole class; contents are not read.

    Raises:
        Unreadable: it is not an archive, or has more entries than a class.
        OSError: it cannot be read.
    """
    headers = 0
    while chunk := file.read(1 << 20):
        headers += chunk.count(_HEADER)
        if headers > CLASS_LIMIT:
            raise _too_many(headers)
    file.seek(0)
    with opened(file) as archive:
        return archive.namelist()


def _too_many(entries: int) -> Unreadable:
    return Unreadable(
        f"the archive holds {entries} entries; at most {ENTRY_LIMIT} are read: pack the folder of your labs alone"
    )


@contextmanager
def opened(file: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """An archive, opened for reading.

    Raises:
        Unreadable: it is not an archive, or a part that is read is damaged.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except _DAMAGED:
        raise Unreadable("the archive is damaged or is not a zip file: pack it again") from None


def path_of(entry: zipfile.ZipInfo) -> str:
    """The path of an entry in its archive; some Windows programs write ``\\`` for ``/``."""
    return entry.filename.replace("\\", "/")


def check(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse what no honest archive of labs holds.

    Raises:
        Unreadable: an entry is not a plain file, the entries are too large together, or two have the same name.
    """
    if sum(entry.file_size for entry in entries) > TOTAL_LIMIT:
        raise Unreadable("the archive holds more than 64 MiB unpacked: hand in your labs alone")
    names = [PurePosixPath(path_of(entry)).as_posix().casefold() for entry in entries]
    if len(set(names)) < len(names):
        raise Unreadable("the archive holds two entries of one name: pack it again")
    for entry in entries:
        _check_entry(entry)


def is_outside(path: str) -> bool:
    """Whether the path of an entry leads out of its archive, on any system."""
    return path.startswith("/") or path[1:2] == ":" or ".." in path.split("/")


def _check_entry(entry: zipfile.ZipInfo) -> None:
    if is_outside(path_of(entry)):
        raise Unreadable("the archive holds a path outside itself: pack the folder of your labs alone")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Unreadable("the archive holds a link or a device: pack plain files")
    if entry.flag_bits & _ENCRYPTED:
        raise Unreadable("the archive is encrypted: pack it without a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable("the archive is compressed in an unusual way: pack it as a plain zip")


def content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of one entry, never more than the limit, whatever its header says.

    Raises:
        Unreadable: the entry is larger than the limit.
    """
    with archive.open(entry) as file:
        data = file.read(FILE_LIMIT + 1)
    check_file_size(shown(PurePosixPath(path_of(entry)).name), data)
    return data

"""A zip archive, read in memory: nothing is unpacked to disk, and every refusal is a sentence."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib

from autograder.submission import FILE_LIMIT, Unreadable, choose

ENTRY_LIMIT = 200
#: Most bytes that all entries may take unpacked.
UNPACKED_LIMIT = 64 * 2**20


def unpack(data: bytes) -> dict[str, bytes]:
    """The Python files and notebooks of an archive that count, by file name.

    Raises:
        Unreadable: it is no archive, is damaged, or holds what no submission needs.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.filename.startswith("__MACOSX/")]
            _check(entries)
            chosen = choose(entry.filename for entry in entries if not entry.is_dir())
            return {name: _content(archive, path) for name, path in chosen.items()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError, RuntimeError):
        raise Unreadable("the archive is damaged or is not a zip file: pack it again") from None


def _check(entries: list[zipfile.ZipInfo]) -> None:
    """Refuse what no honest archive of labs holds."""
    if len(entries) > ENTRY_LIMIT:
        raise Unreadable(f"the archive holds {len(entries)} entries; at most {ENTRY_LIMIT} are read")
    if sum(entry.file_size for entry in entries) > UNPACKED_LIMIT:
        raise Unreadable("the archive holds more than 64 MiB unpacked: hand in your labs alone")
    names = [entry.filename.rstrip("/").casefold() for entry in entries]
    if len(set(names)) < len(names):
        raise Unreadable("the archive holds two entries of one name: pack it again")
    for entry in entries:
        _check_entry(entry)


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    if name.startswith("/") or "\\" in name or ":" in name or ".." in name.split("/"):
        raise Unreadable("the archive holds a path outside itself: pack the folder of your labs alone")
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Unreadable("the archive holds a link or a device: pack plain files")
    if entry.flag_bits & 0x1:
        raise Unreadable("the archive is encrypted: pack it without a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable("the archive is compressed in an unusual way: pack it as a plain zip")


def _content(archive: zipfile.ZipFile, path: str) -> bytes:
    """One entry, never more than the limit, whatever its header says."""
    with archive.open(path) as file:
        data = file.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        advice = "clear the outputs and save again" if path.endswith(".ipynb") else "hand in your code alone"
        raise Unreadable(f"{path.rsplit('/', 1)[-1]} is larger than 16 MiB: {advice}")
    return data

"""How much room on the disk a child takes that has no file system of its own: looked up from outside, now and then.

Limits of a process bound each of its files, not their sum. The system call filter lets a file grow only by what is
written to it, so that little is added between two looks. A file that is mapped and has neither a name nor a descriptor
is not seen; the address space of the child bounds those.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

MIB = 1 << 20
#: Most bytes that a child may take: those of the ``/tmp`` that bubblewrap gives it.
ROOM = 64 * MIB
#: What a file or folder takes at least, bytes.
BLOCK = 4096


def overfull(folder: str, pid: int) -> bool:
    """Whether the process ``pid`` takes more than ``ROOM`` in ``folder`` and in open files that have no name.

    A folder that may hold more than can be seen, as one that is too deep may, counts as full.
    """
    seen: set[int] = set()
    total = 0
    try:
        for found in _entries(folder, pid):
            if found.st_ino not in seen:
                seen.add(found.st_ino)
                total += max(found.st_blocks * 512, BLOCK)
            if total > ROOM:
                return True
    except OSError:
        return True
    return False


def _entries(folder: str, pid: int) -> Iterator[os.stat_result]:
    """What is in a folder and its folders, and what the process holds open on the same disk without a name.

    Raises:
        OSError: a folder cannot be looked into.
    """
    device = os.stat(folder).st_dev
    waiting = [folder]
    while waiting:
        for entry in _listed(waiting.pop()):
            with contextlib.suppress(FileNotFoundError):
                found = entry.stat(follow_symlinks=False)
                waiting += [entry.path] if stat.S_ISDIR(found.st_mode) else []
                yield found
    with contextlib.suppress(OSError):  # another system than Linux, or a process that has just ended
        for entry in _listed(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                found = entry.stat()
                if stat.S_ISREG(found.st_mode) and not found.st_nlink and found.st_dev == device:
                    yield found


def _listed(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder; none if it has vanished, or if nothing can be written into it either.

    Raises:
        OSError: it cannot be looked into.
    """
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except PermissionError:
        if os.stat(folder, follow_symlinks=False).st_mode & stat.S_IWUSR:
            raise
        return []

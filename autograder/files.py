"""Files that the grader writes: complete or not at all, and readable by their owner alone.

Results, answers and vectors reveal people's work and hidden inputs, so no other user of the machine may read them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def save(path: str | os.PathLike[str], content: bytes | str, durable: bool = False) -> None:
    """Write a file to a temporary name in the same folder, then rename it. Only its owner can read it.

    Text is written as UTF-8; lone surrogates, which a file name may contain, are written as escapes. A ``durable`` file
    is on the disk before it is renamed, so that a power cut leaves the old one or the new one; this takes milliseconds.

    Raises:
        OSError: the folder cannot be written.
    """
    target = Path(path)
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)  # of mode 0600
    try:
        with open(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        Path(temporary).unlink(missing_ok=True)


def make_private(folder: str | os.PathLike[str]) -> None:
    """Make a folder that only its owner can enter; an existing folder is closed to all others.

    Raises:
        OSError: it cannot be made.
    """
    path = Path(folder)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)

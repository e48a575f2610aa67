"""Checkpoints that survive a crash: how to write one, and what has to be in it. Standard library only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


class Folder:
    """A folder of files, with the four operations that a safe writer needs.

    A write that was not synced may be cut off by a crash at any byte. A rename happens as a whole or not at all, and
    may become durable before a write that was not synced.

    Args:
        path: the folder; it must exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def write(self, name: str, data: bytes) -> None:
        """Put ``data`` into the file ``name``, in place of what is there."""
        (self.path / name).write_bytes(data)

    def sync(self, name: str) -> None:
        """Return when what was written to ``name`` is on the disk."""
        descriptor = os.open(self.path / name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, name: str, to: str) -> None:
        """Give the file ``name`` the name ``to``, in place of the file that has it; the folder is synced too."""
        os.replace(self.path / name, self.path / to)
        self.sync(".")

    def remove(self, name: str) -> None:
        """Delete the file ``name``."""
        (self.path / name).unlink()


def debug_atomic(disk: Any, name: str, data: Any) -> None:
    """Save a checkpoint so that a crash at any moment leaves a whole one under ``name``: the last or this one.

    When the function returns, this one is there for good, and no other file is left beside it.

    Args:
        disk: has ``write(name, data)``, which a crash may cut off until ``sync(name)`` has returned; ``rename(name,
            to)``, which replaces ``to`` as a whole; and ``remove(name)``.
        name: of the checkpoint, ``"latest.pt"``.
        data: the checkpoint.
    """
    part = name + ".part"
    disk.write(part, data)
    disk.sync(part)
    disk.rename(part, name)


def debug_resume(fresh: dict[str, Any], saved: dict[str, Any]) -> dict[str, Any]:
    """The state with which a restarted job goes on, so that it ends as if it had never been killed, bit for bit.

    Args:
        fresh: the state that a new process starts with: ``step``, ``weights``, ``optimizer`` (its momentum),
            ``sampler`` (which examples come next), ``rng`` (the generator that noise is drawn from) and ``scaler`` (the
            loss scale).
        saved: the same of the job that was killed, at its last checkpoint.

    Returns:
        A state with the same keys.
    """
    return {name: saved[name] for name in fresh}

"""Checkpoints that survive a crash: how to write one, and what has to be in it.

Standard library only. :class:`rankzero.tiny.long_jobs.FolderDisk` is a disk for them: real files in a folder.
"""

from __future__ import annotations

from typing import Any


def debug_atomic(disk: Any, name: str, data: Any) -> None:
    """Save a checkpoint so that a crash at any moment leaves a whole one under ``name``: the last, if there was one, or
    this one.

    When the function returns, this one is there for good, and no other file is left beside it.

    Args:
        disk: has ``write(name, data)``, which a crash may cut off until ``sync(name)`` has returned; ``rename(name,
            to)``, which replaces ``to`` as a whole and for good; and ``remove(name)``.
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

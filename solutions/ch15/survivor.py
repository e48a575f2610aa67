"""A run that is killed and resumes bit for bit: the milestone of the capstone, graded level by level.

    python -m autograder milestone labs --only cap-survive

Begin with one rank that saves its weights and the number of its steps. Try it on a
:class:`rankzero.tiny.long_jobs.FolderDisk` before you let it be killed.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist

#: Length of a SHA-256, bytes.
_DIGEST = 32


def run_job(job: Any, disk: Any) -> None:
    """Train ``job`` to its last step, from the newest whole checkpoint on ``disk``, and save checkpoints on the way.

    The process may be killed at any moment. A new process then calls this function again, with a job that has made no
    steps and the disk as the kill left it. In the end the weights must equal those of an uninterrupted run, bit for
    bit. Every rank calls this function with a disk of its own, and can talk to the others through
    ``torch.distributed``, whose process group is ready. All ranks are killed together, but not at the same point: one
    may have saved a step that another has not.

    Args:
        job: a :class:`rankzero.tiny.long_jobs.LongJob`. While ``job.done`` is less than ``job.steps``, ``job.step()``
            makes the next step. What it does depends on ``job.model``, ``job.optimizer`` and ``job.sampler`` (each has
            ``state_dict()`` and ``load_state_dict(state)``), on ``job.done``, and on torch's random numbers
            (``torch.get_rng_state()``), which differ from rank to rank. Save after every ``job.every`` steps, and after
            the last one. When you load a checkpoint, set ``job.done`` to the step at which it was saved: it is 0 in a
            new process. ``job.rank`` and ``job.ranks`` say which rank this is, and of how many.
        disk: has ``names()``, the names of its files sorted as text, so that ``step-10`` comes before ``step-9`` (write
            ``step-09``); ``read(name)``; ``write(name, data)``, which a kill cuts off
            anywhere, and a crash of the machine too, until ``sync(name)`` has returned; ``rename(name, to)``, which
            replaces ``to`` as a whole and for good; and ``remove(name)``. A checkpoint is one file with any name. Keep
            ``job.keep`` whole ones and at most one that is being written. A file that was saved whole may be read with
            wrong bytes: then the newest one before it counts.
    """
    _resume(job, disk)
    while job.done < job.steps:
        job.step()
        if job.done % job.every == 0 or job.done == job.steps:
            _save(job, disk)


# What is saved.


def _state(job: Any) -> dict[str, Any]:
    """Everything on which the next steps depend."""
    return {
        "done": job.done,
        "model": job.model.state_dict(),
        "optimizer": job.optimizer.state_dict(),
        "sampler": job.sampler.state_dict(),
        "random": torch.get_rng_state(),
    }


def _load(job: Any, state: dict[str, Any]) -> None:
    """Make a new job what it was when its state was taken."""
    job.done = state["done"]
    job.model.load_state_dict(state["model"])
    job.optimizer.load_state_dict(state["optimizer"])
    job.sampler.load_state_dict(state["sampler"])
    torch.set_rng_state(state["random"])


# How it gets to the disk.


def _save(job: Any, disk: Any) -> None:
    """Write under a working name, wait for the disk, rename; then drop what is too old.

    A checkpoint is the SHA-256 of what follows, then the state as ``torch.save`` writes it.
    """
    buffer = io.BytesIO()
    torch.save(_state(job), buffer)
    content = buffer.getvalue()
    name = f"step-{job.done:08d}"
    disk.write("draft", hashlib.sha256(content).digest() + content)
    disk.sync("draft")
    disk.rename("draft", name)
    _drop(disk, _checkpoints(disk)[: -job.keep])


def _drop(disk: Any, names: Iterable[str]) -> None:
    """Delete these files."""
    for old in names:
        disk.remove(old)


def _checkpoints(disk: Any) -> list[str]:
    """The names of all checkpoints, oldest first."""
    return [name for name in disk.names() if name.startswith("step-")]


def _read(disk: Any, name: str) -> dict[str, Any] | None:
    """The state in a checkpoint; None if a byte is missing or wrong."""
    data = disk.read(name)
    digest, content = data[:_DIGEST], data[_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        return None
    return torch.load(io.BytesIO(content))  # type: ignore[no-any-return]


# How it comes back.


def _resume(job: Any, disk: Any) -> None:
    """Load the newest checkpoint that every rank can read; if there is none, the job is new.

    Damaged ones are dropped, those that another rank lacks, and the oldest: a save that was killed after it renamed its
    file has left one too many.
    """
    names = _checkpoints(disk)
    states = {name: state for name in names if (state := _read(disk, name)) is not None}
    newest = _agreed([state["done"] for state in states.values()], job)
    kept = [name for name, state in states.items() if state["done"] <= newest][-job.keep :]
    for name in kept:
        if states[name]["done"] == newest:
            _load(job, states[name])
    _drop(disk, [name for name in names if name not in kept])


def _agreed(mine: list[int], job: Any) -> int:
    """The newest of this rank's steps that every rank has; 0 if there is none."""
    if job.ranks == 1:
        return max(mine, default=0)
    padded = torch.zeros(job.keep + 1, dtype=torch.int64)  # 0 is the beginning, which every rank has
    padded[: len(mine)] = torch.tensor(mine, dtype=torch.int64)
    gathered = [torch.empty_like(padded) for _ in range(job.ranks)]
    dist.all_gather(gathered, padded)
    return max(set.intersection(*(set(steps.tolist()) for steps in gathered)))

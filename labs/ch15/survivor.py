# Generated from solutions/ch15/survivor.py by make stubs. Write the bodies; names and signatures stay.
"""A run that is killed and resumes bit for bit: the milestone of the capstone, graded level by level.

    python -m autograder milestone labs --only cap-survive

Begin with one rank that saves its weights and the number of its steps. Try it on a
:class:`rankzero.tiny.long_jobs.FolderDisk` before you let it be killed.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist


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
    raise NotImplementedError("cap-survive: not written yet")

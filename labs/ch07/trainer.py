# Generated from solutions/ch07/trainer.py by make stubs. Write the bodies; names and signatures stay.
"""A trainer for many ranks, from an empty loop: the milestone of Part II, graded level by level.

    python -m autograder milestone labs --only 07-trainer

Begin with one rank, then data parallelism: each level counts without the others. One loop can serve every plan, because
a pipeline of one stage is plain accumulation, and a group of one rank has nothing to send.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def train(job: Any) -> tuple[dict[str, Tensor], Any]:
    """Train ``job.model`` on the rows of all ranks, as one process with all of these rows would.

    In each step the loss is the mean over all rows of all replicas and micro-batches, and the optimizer is SGD with
    momentum, as ``torch.optim.SGD(parameters, lr=job.learning_rate, momentum=job.momentum)`` does it. Every rank of the
    plan calls this function with its own job.

    Args:
        job: a :class:`rankzero.tiny.jobs.Job`. ``job.model`` is the whole model, ``job.steps[s][m]`` the inputs and
            targets of this replica's micro-batch m in step s, ``job.loss(logits, targets)`` the mean loss of a
            micro-batch (nan without rows). ``job.plan`` has ``dp``, ``tp``, ``pp``, ``zero`` (0, 1 or 2),
            ``micro_batches`` and ``bucket_bytes`` (a bucket's size, 0: none); the rank of replica d, stage p and
            tensor-parallel place t is ``(p * dp + d) * tp + t``. Levels you leave out may raise NotImplementedError.

    Returns:
        ``(weights, state)``. ``weights``: the parameters that this rank holds, under their names in the whole model. A
        stage has ``layers / pp`` consecutive blocks, the first one the embedding, the last one norm and head. Of
        ``tp`` ranks each has its block of rows of query, key, value, gate and up, its block of columns of output and
        down, and everything else whole. Under ZeRO 1 and 2 every replica ends with whole weights. ``state``: what the
        optimizer has to remember, in tensors, numbers, lists and dictionaries; it comes back with the weights in
        ``job.saved`` when the job is resumed.
    """
    raise NotImplementedError("07-trainer: not written yet")

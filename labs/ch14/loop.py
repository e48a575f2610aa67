# Generated from solutions/ch14/loop.py by make stubs. Write the bodies; names and signatures stay.
"""An RLHF loop for one rank or several, from an empty function: the milestone of Part IV, graded level by level.

    python -m autograder milestone labs --only 14-rlhf

Begin with one update of a batch that is written already: each level counts without the others. One loop can serve every
plan, because a rank that is alone writes what it learns from.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


def align(job: Any) -> dict[str, Tensor]:
    """Train ``job.model`` by GRPO on what it writes; every rank calls this function with its own job.

    A rank that is alone writes and learns. Of several ranks, rank 0 learns, and the others share the rows of each batch
    equally, write them and ask for their scores. All ranks begin with the same weights, version 0; update i makes
    version i + 1. Batch i is written by version ``max(0, i - plan.lag)``.

    *Write*: token t of row b is the first one whose cumulative probability under ``softmax(logits / temperature)`` is
    larger than ``job.uniforms[i][b, t]``. A response ends with ``plan.eos``, or after T tokens. Log-probabilities are
    those of the distribution that tokens are drawn from, the reference's at the same temperature.
    ``job.score(i, rows, tokens, log_probs)`` gives the rewards of finished rows; each may be asked for once.

    *Learn*: advantages are ``(reward - mean) / (deviation + 1e-4)`` over the ``group_size`` rows of a prompt, with the
    sample's standard deviation. Each minibatch of ``job.orders[i]`` is one step of ``job.optimizer``. Its loss is a
    mean over all real tokens of the minibatch, a row's first ``<eos>`` included: minus the smaller of ``ratio *
    advantage`` and ``clamp(ratio, 1 - clip, 1 + clip) * advantage``, plus ``beta * (log p - log p_reference)**2 / 2``.
    The ratio is to the writer's log-probabilities. With a lag it is to those of version i, taken before update i, and
    each token's advantage is multiplied by ``min(p_version_i / p_writer, cap)``, without gradient.

    *Ahead*: with a lag of 1, the writers write batch i + 1 while rank 0 learns from batch i. Send weights to all
    writers at once, by a broadcast, and none that nobody writes with.

    *At their own speed* (a bonus): with ``plan.bound``, each batch is written by one writer, whichever is free, and
    some take long. Batch i is begun with version v, the newest, if ``i - v <= bound``, and no writer waits while it may
    begin one. Batches are learned from in their order, weighted as with a lag.

    Args:
        job: a :class:`rankzero.tiny.align_jobs.Job`, all of it in float64: ``model``, ``reference`` (None without a
            price), ``optimizer`` (on rank 0), ``prompts[i]`` [B, P], ``uniforms[i]`` [B, T], ``orders[i]``, ``score``,
            ``cache(rows)`` for passes over new tokens only, ``plan`` (``iterations, group_size, clip, beta,
            temperature, eos, lag, cap, bound``), and ``rollout``: batch 0 (``tokens``, ``log_probs``, ``scores``), if
            it is written already, else None. What stands behind ``<eos>`` in it means nothing. Levels you leave out may
            raise NotImplementedError.

    Returns:
        On rank 0 the trained weights by name, as ``job.model.state_dict()`` has them; on the others ``{}``.
    """
    raise NotImplementedError("14-rlhf: not written yet")

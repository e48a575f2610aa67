# Generated from solutions/ch14/weight_push.py by make stubs. Write the bodies; names and signatures stay.
"""Weights between real ranks: execute a reshard plan, push buckets from a trainer, keep an engine's addresses.

    world.run(lambda: execute_reshard(local, source, target, plan), ranks=4).values

A box ``(row0, row1, col0, col1)`` is a part of a matrix, half open; :mod:`.weight_sync` makes the plans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist

from rankzero import checks

Box = tuple[int, int, int, int]


def execute_reshard(
    local: torch.Tensor, source: Sequence[Box], target: Sequence[Box], plan: Sequence[Any]
) -> torch.Tensor:
    """Carry out a reshard plan: every rank of the default group gives the box that it holds and gets the one it wants.

    A rank sends what the plan tells it to send, and nothing else; so no rank ever has more of the matrix than its two
    boxes. Messages are contiguous tensors, and the tag of each is its place in the plan. Sends and receives are all
    posted before any is waited for: ranks that each send to the next one before they receive would wait for each other.

    Args:
        local: this rank's part of the matrix, the box ``source[rank]``; unchanged afterwards.
        source: the box that each rank holds.
        target: the box that each rank is to hold.
        plan: the same on every rank: transfers with ``source``, ``destination`` and ``box``, in the matrix's rows and
            columns. Those with ``source == destination`` are copies, without a message.

    Returns:
        The box ``target[rank]``, a new contiguous tensor of ``local``'s type; it may be empty.
    """
    raise NotImplementedError("14-execute-reshard: not written yet")


def push_weights(
    state: Mapping[str, torch.Tensor], trainer: int, rollout_group: dist.ProcessGroup, bucket_bytes: int
) -> None:
    """Bring the trainer's weights to every rank of a group, in buckets, into tensors that exist already.

    Every member of the group calls it. The names are the same on every rank, in any order: tensors go in the order of
    their sorted names. Tensors that share one memory (tied weights) go once, under the first of their names. A bucket
    takes tensors as long as it stays within ``bucket_bytes``, and at least one. Its bytes are one broadcast. An empty
    tensor is not sent.

    Args:
        state: this rank's parameters and buffers by name, as ``state_dict()`` gives them: equal shapes and types on
            every rank, types may differ between tensors. They are overwritten in place on all ranks but the trainer.
        trainer: *global* rank that has the new weights, a member of the group.
        rollout_group: the group of the trainer and those that generate.
        bucket_bytes: the most that one broadcast carries, unless one tensor alone is larger, bytes; at least 1.
    """
    checks.count(bucket_bytes=bucket_bytes)
    raise NotImplementedError("14-push-weights: not written yet")


def debug_src(x: torch.Tensor) -> torch.Tensor:
    """Share the weights among the ranks that serve: the second half of all ranks, N / 2 to N - 1. N is even.

    The first of the serving ranks has them, and the others of that half get them. The ranks of the first half train:
    they take part in creating the group, because every rank of the world must, and keep their own tensor.

    Args:
        x: the same shape and type on every rank; unchanged afterwards.

    Returns:
        A new tensor: on a serving rank the first serving rank's, on any other its own.
    """
    ranks = dist.get_world_size()
    serving = list(range(ranks // 2, ranks))
    group = dist.new_group(serving)
    weights = x.clone()
    if dist.get_rank() in serving:
        dist.broadcast(weights, src=0, group=group)
    return weights


def debug_rebinding(layer: torch.nn.Linear, weight: torch.Tensor, bias: torch.Tensor) -> None:
    """Give a layer new weights while an engine runs on it.

    The engine has captured the layer: it reads from the addresses that weight and bias had then, and it will not
    capture again. An optimizer holds the two parameters as well.

    Args:
        layer: with a bias; its parameters may need gradients.
        weight: the new weight [out, in], of the layer's type.
        bias: the new bias [out].
    """
    layer.weight = torch.nn.Parameter(weight)
    layer.bias = torch.nn.Parameter(bias)

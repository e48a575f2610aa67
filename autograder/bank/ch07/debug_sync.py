"""Chapter 7: ``debug_sync``, meshes of ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch07.draws import linear, numbers
from autograder.bank.rules import every
from autograder.items import Case, Debug, Group, Right, Slip, Stage
from rankzero.events import Event


def wrong_sync(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]  # the same stage of both replicas
    first = rank % 2 == 0
    total = 0.0
    for x, target in zip(inputs, targets, strict=True):
        passed = torch.empty(shape)  # the activation on its way to stage 1, its gradient on the way back
        if first:
            y = stage(x)
            dist.send(y.detach(), rank + 1)
            dist.recv(passed, rank + 1)
            y.backward(passed)
        else:
            dist.recv(passed, rank - 1)
            loss = torch.nn.functional.mse_loss(stage(passed.requires_grad_()), target) / len(inputs)
            loss.backward()
            dist.send(passed.grad, rank - 1)
            total += loss.item()
        for parameter in stage.parameters():
            dist.all_reduce(parameter.grad, group=groups[rank % 2])
            parameter.grad.div_(2)
    return None if first else total


def _replicas(rng: Random, microbatches: int) -> Case:
    """Two replicas of a model of two stages, each with micro-batches of its own."""
    width, batch = rng.randint(2, 6), rng.randint(1, 3)
    stages = [linear(rng, width, dtype="float32") for _ in range(2)]
    data = [
        [[numbers(rng, batch, width, dtype="float32") for _ in range(microbatches)] for _ in range(2)] for _ in range(2)
    ]
    return Case(tuple((stages[rank % 2], *data[rank // 2], (batch, width)) for rank in range(4)))


def _replicated(rng: Random) -> Case:
    return _replicas(rng, rng.randint(2, 5))


def _once(rng: Random) -> Case:
    return _replicas(rng, 1)


_REPLICAS = Random("07-debug-sync")


def reduced_once(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """No rank reduces more bytes than its stage's gradients have."""
    for rank, (stage, inputs, *_) in enumerate(case.args):
        reduced = sum(e.sent for e in events if e.rank == rank and e.operation not in ("send", "recv", "barrier"))
        size = gradient_bytes(stage)
        if reduced > size:
            times = f"{reduced / size:g} times" if len(inputs) > 1 else "more than once"
            return f"rank {rank} reduced its gradients {times}: they need to travel once, after the last backward pass"
    return None


def sync_needs(case: Case) -> list[int]:
    """Bytes that come to each rank: its stage's gradients, and an activation or its gradient per micro-batch."""
    needs = []
    for stage, inputs, _, shape in case.args:
        needs.append(gradient_bytes(stage) + len(inputs) * 4 * math.prod(shape))
    return needs


def gradient_bytes(stage: Stage) -> int:
    """Bytes of all parameters of a stage."""
    return sum(len(own.data) for _, *tensors in stage.layers for own in tensors if own is not None)


def synced_in_one_message(stage, inputs, targets, shape):
    """All gradients in one flat tensor; the loss is divided after the backward passes."""
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    total = 0.0
    for x, target in zip(inputs, targets, strict=True):
        passed = torch.empty(shape)
        if rank % 2 == 0:
            y = stage(x)
            dist.send(y.detach(), rank + 1)
            dist.recv(passed, rank + 1)
            y.backward(passed)
        else:
            dist.recv(passed, rank - 1)
            loss = ((stage(passed.requires_grad_()) - target) ** 2).mean()
            (loss / len(inputs)).backward()
            dist.send(passed.grad, rank - 1)
            total += loss.item()
    flat = torch.cat([parameter.grad.view(-1) for parameter in stage.parameters()])
    dist.all_reduce(flat, group=groups[rank % 2])
    for parameter in stage.parameters():
        part, flat = flat[: parameter.numel()], flat[parameter.numel() :]
        parameter.grad.copy_(part.view_as(parameter) * 0.5)
    return None if rank % 2 == 0 else total / len(inputs)


EXERCISE = Debug(
    "07 pipeline_run.debug_sync",
    section="7.24",
    topic="meshes of ranks",
    bonus=True,
    grade="world",
    tolerance=1e-5,
    rule=every(reduced_once, least_received.heard(sync_needs)),
    wrong=wrong_sync,
    cases=(_replicas(_REPLICAS, 3), _replicas(_REPLICAS, 2)),
    groups=(
        Group(
            "several micro-batches",
            _replicated,
            4,
            "A replica's gradients are complete after its last micro-batch: reduce them then, once.",
        ),
        Group("one micro-batch", _once, 1, "With one micro-batch the gradients are reduced once, too."),
    ),
    slips=(
        Slip("The gradients still travel after every micro-batch: m times the bytes for the same sum.", wrong_sync),
        Slip(
            "They are reduced after every micro-batch but the last, whose gradients the other replica never sees.",
            program=wrong_sync,
            edits=(
                (
                    "for x, target in zip(inputs, targets, strict=True):",
                    "for number, (x, target) in enumerate(zip(inputs, targets, strict=True)):",
                ),
                ("in stage.parameters():", "in stage.parameters() if number < len(inputs) - 1 else ():"),
            ),
        ),
        Slip(
            "The sum over the replicas was kept: a gradient is their mean.",
            edit=("        _gradient_of(parameter).div_(2)\n", ""),
        ),
        Slip(
            "All ranks were reduced together: a group holds the same stage of each replica.",
            edits=((", group=groups[rank % 2]", ""), (".div_(2)", ".div_(4)")),
        ),
    ),
    rights=(
        Right("one flat message", program=synced_in_one_message),
        Right(
            "halved before the sum",
            edits=(
                (
                    "        dist.all_reduce(_gradient_of(parameter), group=groups[rank % 2])\n",
                    "        _gradient_of(parameter).mul_(0.5)\n"
                    "        dist.all_reduce(_gradient_of(parameter), group=groups[rank % 2])\n",
                ),
                (
                    "        _gradient_of(parameter).div_(2)\n",
                    "",
                ),
            ),
        ),
    ),
)

"""Chapter 07: two training loops to fix: a pipeline that hangs, and replicas that reduce too often."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch07 import rules
from autograder.bank.ch07.draws import linear, numbers
from autograder.bank.rules import every
from autograder.items import Case, Debug, Group, Slip

# --- debug_blocking


def wrong_blocking(stage, inputs, targets, microbatches, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    ahead = min(microbatches, ranks - 1 - rank)  # forward passes before the first backward pass
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches):
        if m + ahead < microbatches:
            order.append(("F", m + ahead))
        order.append(("B", m))
    held = {}
    total = 0.0
    for kind, m in order:
        if kind == "F":
            x = inputs[m] if rank == 0 else torch.empty(shape)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = stage(x)
            if rank < ranks - 1:
                dist.send(y.detach(), rank + 1)
            else:
                y = torch.nn.functional.mse_loss(y, targets[m]) / microbatches
                total += y.item()
            held[m] = x, y
        else:
            (x, y), gradient = held.pop(m), torch.ones(())
            if rank < ranks - 1:
                gradient = torch.empty(shape)
                dist.recv(gradient, rank + 1)
            y.backward(gradient)
            if rank > 0:
                dist.send(x.grad, rank - 1)
    return total if rank == ranks - 1 else None


def _loop(rng: Random, ranks: int, microbatches: int) -> Case:
    width, batch = rng.randint(3, 8), rng.randint(1, 3)
    inputs, targets = ([numbers(rng, batch, width, dtype="float32") for _ in range(microbatches)] for _ in range(2))
    args: list[tuple[Any, ...]] = [
        (
            linear(rng, width, dtype="float32"),
            inputs if rank == 0 else None,
            targets if rank == ranks - 1 else None,
            microbatches,
            (batch, width),
        )
        for rank in range(ranks)
    ]
    return Case(tuple(args))


def _looped(rng: Random) -> Case:
    return _loop(rng, rng.randint(2, 4), rng.randint(2, 6))


def _looped_of_each(rng: Random) -> list[Case]:
    return [_loop(rng, 2, rng.randint(2, 6)), _loop(rng, 4, rng.randint(5, 6)), _loop(rng, 3, rng.randint(4, 6))]


def _small_loop(rng: Random) -> Case:
    return _loop(rng, rng.randint(1, 3), 1)


_LOOPS = Random("07-debug-blocking")

DEBUG_BLOCKING = Debug(
    id="07-debug-blocking",
    module="pipeline_run",
    function="debug_blocking",
    grade="world",
    section="7.19",
    bonus=True,
    topic="pipelines on real ranks",
    tolerance=1e-5,
    cases=(_loop(_LOOPS, 2, 2), _loop(_LOOPS, 3, 4), _loop(_LOOPS, 2, 1)),
    groups=(
        Group(
            "two micro-batches or more",
            _looped,
            4,
            "Two neighbors must never both wait for the other to receive.",
            _looped_of_each,
        ),
        Group("one micro-batch", _small_loop, 2, "One micro-batch, and one rank, must still give the right gradients."),
    ),
    slips=(
        Slip(
            "Every send still waits until it is received, so neighbors that send to each other wait forever.",
            wrong_blocking,
        ),
        Slip(
            "After the barrier the two ranks still send to each other, and neither receives.",
            program=wrong_blocking,
            edit=("    for kind, m in order:\n", "    for kind, m in order:\n        dist.barrier()\n"),
        ),
        Slip(
            "Only rank 0 receives its gradient first. The others still send to each other, or wait for a micro-batch.",
            program=wrong_blocking,
            edit=("min(microbatches, ranks - 1 - rank)", "min(microbatches, ranks - 1 - rank) if rank else 0"),
        ),
        Slip(
            "It no longer hangs, but forward passes come too early: the passes must keep the order of 1F1B.",
            program=wrong_blocking,
            edit=("min(microbatches, ranks - 1 - rank)", "microbatches"),
        ),
    ),
    rule=rules.pipelined_messages,
    wrong=wrong_blocking,
)


# --- debug_sync


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

DEBUG_SYNC = Debug(
    id="07-debug-sync",
    module="pipeline_run",
    function="debug_sync",
    grade="world",
    section="7.24",
    bonus=True,
    topic="meshes of ranks",
    tolerance=1e-5,
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
    rule=every(rules.reduced_once, least_received.heard(rules.sync_needs)),
    wrong=wrong_sync,
)

ITEMS = (DEBUG_BLOCKING, DEBUG_SYNC)

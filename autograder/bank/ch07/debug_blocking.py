"""Chapter 7: ``debug_blocking``, pipelines on real ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.ch07.draws import linear, numbers
from autograder.bank.ch07.rules import between, messages
from autograder.items import Case, Debug, Group, Right, Slip
from rankzero.events import Event


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


def pipelined_messages(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """The same for the loop to fix, whose cases name the number of micro-batches, in the order of 1F1B."""
    microbatches = case.args[0][3]
    return messages(case, events, microbatches) or _warm_ups(len(case.args), microbatches, events)


def _warm_ups(ranks: int, microbatches: int, events: Sequence[Event]) -> str | None:
    """A rank asks for its first gradient after its warm-up and one forward pass more, or earlier."""
    for rank in range(ranks - 1):
        asked = min((event.start for event in events if between(event, rank, "recv")), default=0.0)
        sent = sum(between(event, rank, "send") and event.start < asked for event in events)
        if sent > min(microbatches, ranks - rank):
            first = min(microbatches, ranks - rank)
            return f"rank {rank} sent {sent} activations before it asked for a gradient: in the order of 1F1B, {first}"
    return None


def blocking_with_irecv(stage, inputs, targets, microbatches, shape):
    """Sends that are not waited for, the gradients scaled by hand and in the end."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    ahead = min(microbatches, ranks - 1 - rank)
    losses, kept, sent = [], {}, []
    turns = [("F", m) for m in range(ahead)]
    for m in range(microbatches):
        turns += [("F", m + ahead)] if m + ahead < microbatches else []
        turns.append(("B", m))
    for kind, m in turns:
        if kind == "F":
            x = inputs[m] if rank == 0 else torch.empty(shape)
            if rank:
                dist.irecv(x, rank - 1).wait()
                x.requires_grad_()
            y = stage(x)
            if rank < ranks - 1:
                sent.append(dist.isend(y.detach(), rank + 1))
            else:
                y = ((y - targets[m]) ** 2).mean()
                losses.append(y.item())
            kept[m] = x, y
        else:
            x, y = kept.pop(m)
            upstream = torch.tensor(1 / microbatches)
            if rank < ranks - 1:
                upstream = torch.empty(shape)
                dist.irecv(upstream, rank + 1).wait()
            y.backward(upstream)
            if rank:
                sent.append(dist.isend(x.grad, rank - 1))
    for message in sent:
        message.wait()
    return math.fsum(losses) / microbatches if rank == ranks - 1 else None


EXERCISE = Debug(
    "07 pipeline_run.debug_blocking",
    section="7.19",
    topic="pipelines on real ranks",
    bonus=True,
    grade="world",
    tolerance=1e-5,
    rule=pipelined_messages,
    wrong=wrong_blocking,
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
    rights=(
        Right("messages asked for, losses averaged last", program=blocking_with_irecv),
        Right(
            "the sum of squares",
            edit=(
                "torch.nn.functional.mse_loss(y, targets[m]) / microbatches",
                "(y - targets[m]).square().sum() / (y.numel() * microbatches)",
            ),
        ),
    ),
)

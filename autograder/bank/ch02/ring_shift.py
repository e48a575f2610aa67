"""Chapter 2: ``ring_shift``, non-blocking messages."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch02.rules import calls, messages
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor
from rankzero.events import Event


def _tensors(rng: Random, ranks: int, distance: int, shape: tuple[int, ...], dtype: str = "float32") -> Case:
    """A tensor of random numbers, none of them 0 and none of them on two ranks, on every rank."""
    count = 1
    for size in shape:
        count *= size
    rows = [[value * 10 + rank for value in rng.choices(range(1, 1000), k=count)] for rank in range(ranks)]
    if dtype == "bool":
        rows = [[(row >> (bit % 2)) & 1 for bit in range(count)] for row in range(1, ranks + 1)]
    return Case(args=tuple((Tensor.of(row, dtype, shape), distance) for row in rows))


def _shifts_of_each(rng: Random) -> list[Case]:
    return [
        _tensors(rng, 4, rng.choice((1, -1, 3)), (rng.randint(2, 9),)),
        _tensors(rng, 3, rng.choice((2, 5, -4)), (2, rng.randint(2, 5)), "int64"),
        _tensors(rng, 2, rng.choice((1, -1, 7, -9)), (3, 2), "bool"),
    ]


def _spread(rng: Random) -> Case:
    """A tensor that is not contiguous."""
    return dataclasses.replace(_tensors(rng, rng.randint(2, 4), 1, (3, rng.randint(2, 5))), kwargs={"spread": True})


def _whole_turns(rng: Random) -> list[Case]:
    """Multiples of the number of ranks, of a tensor that autograd follows, and one rank alone."""
    ranks = rng.randint(2, 4)
    turns = [(ranks, rng.choice((-2, -1, 1, 2)) * ranks), (rng.randint(2, 4), 0), (1, rng.randint(-9, 9))]
    *followed, alone = [_tensors(rng, size, distance, (rng.randint(1, 9),)) for size, distance in turns]
    return [*(dataclasses.replace(case, kwargs={"history": True}) for case in followed), alone]


def _sizes(rng: Random) -> list[Case]:
    """No elements, one without dimensions, and many."""
    one = tuple((Tensor.of([100 * rank + rng.randint(1, 99)], "int64", ()), -1) for rank in range(2))
    return [
        _tensors(rng, 3, 1, (0,)),
        Case(args=one),
        _tensors(rng, 4, rng.choice((2, -6)), (rng.randint(33, 40), 501)),
    ]


def shift_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """One message per rank, straight to its place; none where a tensor stays."""
    ranks = len(case.args)
    x, distance = case.args[0][0], case.args[0][1] if len(case.args[0]) > 1 else 1
    for rank in range(ranks):
        sent = calls(events, rank, "send")
        if distance % ranks == 0 and sent:
            return f"rank {rank} sent {messages(len(sent))}; with this distance every rank keeps its own tensor"
        if not x.data and sent:
            return f"rank {rank} sent {messages(len(sent))}; its tensor has no elements, so there is nothing to send"
        if len(sent) > 1:
            return f"rank {rank} sent {len(sent)} messages; one is enough, whatever the distance"
        if sent and sum(event.sent for event in sent) != len(x.data):
            return f"rank {rank} sent {sent[0].sent:,} bytes; its tensor has {len(x.data):,}"
    return None


def shifted(case: Case) -> int:
    """Bytes that come to each rank in a shift: its neighbour's tensor, or nothing after whole turns."""
    x, distance = case.args[0][0], case.args[0][1] if len(case.args[0]) > 1 else 1
    return len(x.data) if distance % len(case.args) else 0


def shifted_in_a_batch(x, distance=1):
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = x.detach().contiguous()
    arrived = x.clone()
    if distance % ranks and x.numel():
        calls = [
            dist.P2POp(dist.irecv, arrived, (rank - distance) % ranks),
            dist.P2POp(dist.isend, x, (rank + distance) % ranks),
        ]
        for handle in dist.batch_isend_irecv(calls):
            handle.wait()
    return arrived


def shifted_by_blocking_calls(x, distance=1):
    """In every cycle of ranks somebody receives first."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    source, target = (rank - distance) % ranks, (rank + distance) % ranks
    if rank == target or x.numel() == 0:
        return x.detach().clone()
    x = x.detach()
    arrived = torch.empty(x.shape, dtype=x.dtype)
    if rank < source:
        dist.recv(arrived, source)
    dist.send(x.contiguous(), target)
    if rank > source:
        dist.recv(arrived, source)
    return arrived


SHIFT = "if distance % ranks and x.numel():"


EXERCISE = Build(
    "02 point_to_point.ring_shift",
    section="2.13",
    topic="non-blocking messages",
    bonus=True,
    grade="world",
    probe="ch02.written_over",
    rule=every(only_messages, shift_ledger, least_received.by_everyone(shifted)),
    cases=(
        Case(args=tuple((Tensor.of([r], "int64"),) for r in range(4))),
        Case(args=tuple((Tensor.of([r], "int64"), -1) for r in range(4))),
        Case(args=tuple((Tensor.of([r], "int64"), 4) for r in range(4))),
        Case(args=tuple((Tensor.of([r + 0.5, -r], shape=(1, 2)), -3) for r in range(2))),
    ),
    groups=(
        listed("any distance", _shifts_of_each, "Tensors go `distance` places to the right, and come from the left."),
        listed(
            "whole turns",
            _whole_turns,
            "After whole turns every rank has its own tensor, without a message: a new one, detached.",
        ),
        Group("not contiguous", _spread, 1, "The tensor need not be contiguous: messages are."),
        listed("any size", _sizes, "The tensor may be empty, long, or without dimensions.", 3),
    ),
    slips=(
        Slip(
            "The receive names the rank that the tensor is sent to: it comes from `rank - distance`.",
            edit=("dist.irecv(arrived, (rank - distance)", "dist.irecv(arrived, (rank + distance)"),
        ),
        Slip(
            "All ranks send first and wait for a receiver: post both calls, then wait for both.",
            edit=(
                "requests: list[Any] = [\n            dist.isend(outgoing, (rank + distance) % ranks),",
                "dist.send(outgoing, (rank + distance) % ranks)\n        requests: list[Any] = [",
            ),
        ),
        Slip(
            "The buffer was read before the wait: until then it belongs to the transport.",
            edit=("        for request", "        arrived = arrived.clone()\n        for request"),
        ),
        Slip(
            "The tensors went round the other way: to `rank + distance`.",
            edits=(
                ("dist.isend(outgoing, (rank + distance)", "dist.isend(outgoing, (rank - distance)"),
                ("dist.irecv(arrived, (rank - distance)", "dist.irecv(arrived, (rank + distance)"),
            ),
        ),
        Slip(
            "After whole turns a rank sends to itself: no message is needed, only a copy.",
            edit=("if distance % ranks and x.numel():", "if x.numel():"),
        ),
        Slip(
            "`x` was the receive buffer: it changes, perhaps before it was sent.",
            edits=(("arrived = outgoing.clone()", "arrived = x"), ("return arrived", "return arrived.clone()")),
        ),
        Slip(
            "What is returned hangs on the computation that `x` came from: detach it.",
            edits=(
                ("outgoing = x.detach().contiguous()", "outgoing = x.contiguous()"),
                (
                    "    if distance % ranks and x.numel():",
                    "    if distance % ranks and x.numel():\n        arrived, outgoing = arrived.detach(), "
                    "outgoing.detach()",
                ),
            ),
        ),
        Slip(
            "The tensors went from neighbor to neighbor: one message to the right place is enough.",
            edits=(
                ("if distance % ranks and x.numel():", "for _ in range(distance % ranks if x.numel() else 0):"),
                ("dist.isend(outgoing, (rank + distance)", "dist.isend(outgoing, (rank + 1)"),
                ("dist.irecv(arrived, (rank - distance)", "dist.irecv(arrived, (rank - 1)"),
                ("request.wait()", "request.wait()\n        outgoing = arrived.clone()"),
            ),
        ),
    ),
    rights=(
        Right("a batch of calls", program=shifted_in_a_batch),
        Right("blocking calls", program=shifted_by_blocking_calls),
    ),
    promises=(
        Promise(
            "Every rank sends one message and receives one, whatever the distance.",
            edits=(
                (SHIFT, "for _ in range(distance % ranks if x.numel() else 0):"),
                ("dist.isend(outgoing, (rank + distance)", "dist.isend(outgoing, (rank + 1)"),
                ("dist.irecv(arrived, (rank - distance)", "dist.irecv(arrived, (rank - 1)"),
                ("request.wait()", "request.wait()\n        outgoing = arrived.clone()"),
            ),
        ),
        Promise(
            "which is copied without a message;",
            edit=("outgoing.clone()", "outgoing.clone() if distance % ranks else x"),
        ),
        Promise("so is an empty one.", edit=(SHIFT, "if distance % ranks:")),
        Promise("unchanged afterwards.", edit=("    return arrived", "    return x.copy_(arrived).clone()")),
        Promise("It need not be contiguous.", edit=("x.detach().contiguous()", "x.detach()")),
        Promise(
            "``(rank - distance) mod N``, a new one.",
            edit=("    return arrived", f"    {SHIFT}\n        return arrived\n    return x"),
        ),
    ),
)

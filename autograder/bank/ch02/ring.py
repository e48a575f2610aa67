"""Chapter 02: tensors that move round a ring: a build item.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

import dataclasses
from random import Random

from autograder.bank import least
from autograder.bank.ch02 import rules
from autograder.bank.rules import every, only_messages
from autograder.items import Build, Case, Group, Slip, Tensor


def slip_all_send_first(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    arrived = x.clone()
    if distance % ranks and x.numel():
        arrived = torch.empty_like(x)
        dist.send(x, (rank + distance) % ranks)
        dist.recv(arrived, (rank - distance) % ranks)
    return arrived


def slip_reads_too_early(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if distance % ranks == 0 or not x.numel():
        return x.clone()
    buffer = torch.zeros_like(x)
    requests = [dist.irecv(buffer, (rank - distance) % ranks), dist.isend(x, (rank + distance) % ranks)]
    arrived = buffer.clone()
    for request in requests:
        request.wait()
    return arrived


def slip_from_where_it_goes(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if distance % ranks == 0 or not x.numel():
        return x.clone()
    arrived = torch.empty_like(x)
    sending = dist.isend(x, (rank + distance) % ranks)
    dist.recv(arrived, (rank + distance) % ranks)
    sending.wait()
    return arrived


def slip_other_way(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if distance % ranks == 0 or not x.numel():
        return x.clone()
    arrived = torch.empty_like(x)
    sending = dist.isend(x, (rank - distance) % ranks)
    dist.recv(arrived, (rank + distance) % ranks)
    sending.wait()
    return arrived


def slip_sends_to_itself(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    arrived = torch.empty_like(x)
    if x.numel():
        requests = [dist.isend(x, (rank + distance) % ranks), dist.irecv(arrived, (rank - distance) % ranks)]
        for request in requests:
            request.wait()
    return arrived


def slip_receives_into_x(x, distance=1):
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if distance % ranks and x.numel():
        requests = [dist.isend(x, (rank + distance) % ranks), dist.irecv(x, (rank - distance) % ranks)]
        for request in requests:
            request.wait()
    return x.clone()


def slip_step_by_step(x, distance=1):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = x.clone()
    for _ in range(distance % ranks if x.numel() else 0):
        arrived = torch.empty_like(x)
        sending = dist.isend(held, (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        held = arrived
    return held


def _tensors(rng: Random, ranks: int, distance: int, shape: tuple[int, ...], dtype: str = "float32") -> Case:
    """A tensor of random numbers, none of them 0 and none of them on two ranks, on every rank."""
    count = 1
    for size in shape:
        count *= size
    rows = [[rng.randint(1, 999) * 10 + rank for _ in range(count)] for rank in range(ranks)]
    if dtype == "bool":
        rows = [[(row >> (bit % 2)) & 1 for bit in range(count)] for row in range(1, ranks + 1)]
    return Case(args=tuple((Tensor.of(row, dtype, shape), distance) for row in rows))


def _shifts_of_each(rng: Random) -> list[Case]:
    return [
        _tensors(rng, 4, rng.choice((1, -1, 3)), (rng.randint(2, 9),)),
        _tensors(rng, 3, rng.choice((2, 5, -4)), (2, rng.randint(2, 5)), "int64"),
        _tensors(rng, 2, rng.choice((1, -1, 7, -9)), (3, 2), "bool"),
    ]


def _shift(rng: Random) -> Case:
    return rng.choice(_shifts_of_each(rng))


def _spread(rng: Random) -> Case:
    """A tensor that is not contiguous."""
    return dataclasses.replace(_tensors(rng, rng.randint(2, 4), 1, (3, rng.randint(2, 5))), kwargs={"spread": True})


def _whole_turns(rng: Random) -> list[Case]:
    """Multiples of the number of ranks, and one rank alone."""
    ranks = rng.randint(2, 4)
    turns = [(ranks, rng.choice((-2, -1, 1, 2)) * ranks), (rng.randint(2, 4), 0), (1, rng.randint(-9, 9))]
    return [_tensors(rng, size, distance, (rng.randint(1, 9),)) for size, distance in turns]


def _whole_turn(rng: Random) -> Case:
    return rng.choice(_whole_turns(rng))


def _sizes(rng: Random) -> list[Case]:
    """No elements, one without dimensions, and many."""
    one = tuple((Tensor.of([100 * rank + rng.randint(1, 99)], "int64", ()), -1) for rank in range(2))
    return [
        _tensors(rng, 3, 1, (0,)),
        Case(args=one),
        _tensors(rng, 4, rng.choice((2, -6)), (rng.randint(150, 200), 501)),
    ]


def _size(rng: Random) -> Case:
    return rng.choice(_sizes(rng))


RING_SHIFT = Build(
    id="02-ring-shift",
    module="point_to_point",
    function="ring_shift",
    grade="world",
    probe="ch02.written_over",
    section="2.5",
    topic="non-blocking messages",
    cases=(
        Case(args=tuple((Tensor.of([r], "int64"),) for r in range(4))),
        Case(args=tuple((Tensor.of([r], "int64"), -1) for r in range(4))),
        Case(args=tuple((Tensor.of([r], "int64"), 4) for r in range(4))),
        Case(args=tuple((Tensor.of([r + 0.5, -r], shape=(1, 2)), -3) for r in range(2))),
    ),
    groups=(
        Group(
            "any distance",
            _shift,
            3,
            "Tensors go `distance` places to the right, and come from the left.",
            _shifts_of_each,
        ),
        Group(
            "whole turns",
            _whole_turn,
            3,
            "After whole turns every rank has its own tensor, without a message.",
            _whole_turns,
        ),
        Group("not contiguous", _spread, 1, "The tensor need not be contiguous: messages are."),
        Group("any size", _size, 3, "The tensor may be empty, long, or without dimensions.", _sizes),
    ),
    slips=(
        Slip(
            "The receive names the rank that the tensor is sent to: it comes from `rank - distance`.",
            slip_from_where_it_goes,
        ),
        Slip("All ranks send first and wait for a receiver: post both calls, then wait for both.", slip_all_send_first),
        Slip("The buffer was read before the wait: until then it belongs to the transport.", slip_reads_too_early),
        Slip("The tensors went round the other way: to `rank + distance`.", slip_other_way),
        Slip("After whole turns a rank sends to itself, which the library refuses: copy.", slip_sends_to_itself),
        Slip("`x` was the receive buffer: it changes, perhaps before it was sent.", slip_receives_into_x),
        Slip(
            "The tensors went from neighbour to neighbour: one message to the right place is enough.", slip_step_by_step
        ),
    ),
    rule=every(only_messages, rules.shift_ledger, least.by_everyone(rules.shifted)),
)

ITEMS = (RING_SHIFT,)

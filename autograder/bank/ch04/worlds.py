"""Chapter 04: an all-reduce along a tree and a benchmark to debug, both on real ranks."""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

import math
from random import Random

from autograder.bank import least, rules
from autograder.bank.ch04 import rules as ch04_rules
from autograder.items import Build, Case, Debug, Group, Slip, Tensor

# --- tree_all_reduce


def slip_partner_outside(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    total, bit = x.clone(), 1
    while bit < ranks and not rank & bit:
        arrived = torch.empty_like(total)
        dist.recv(arrived, rank ^ bit)
        total += arrived
        bit *= 2
    if rank:
        dist.send(total, rank ^ bit)
        dist.recv(total, rank ^ bit)
    while bit > 1:
        bit //= 2
        dist.send(total, rank ^ bit)
    return total


def slip_star(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    total = x.clone()
    if rank:
        dist.send(total, 0)
        dist.recv(total, 0)
        return total
    for other in range(1, ranks):
        arrived = torch.empty_like(total)
        dist.recv(arrived, other)
        total += arrived
    for other in range(1, ranks):
        dist.send(total, other)
    return total


def slip_chain(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    total = x.clone()
    if rank < ranks - 1:
        arrived = torch.empty_like(total)
        dist.recv(arrived, rank + 1)
        total += arrived
    if rank:
        dist.send(total, rank - 1)
        dist.recv(total, rank - 1)
    if rank < ranks - 1:
        dist.send(total, rank + 1)
    return total


def slip_too_early(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    total, bit = x.clone(), 1
    while bit < ranks and not rank & bit:
        if rank + bit < ranks:
            arrived = torch.empty_like(total)
            dist.recv(arrived, rank + bit)
            total += arrived
            if rank == 0:
                dist.send(total, rank + bit)
        bit *= 2
    if rank:
        dist.send(total, rank - bit)
        dist.recv(total, rank - bit)
        while bit > 1:
            bit //= 2
            if rank + bit < ranks:
                dist.send(total, rank + bit)
    return total


def slip_into_x(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    bit = 1
    while bit < ranks and not rank & bit:
        if rank + bit < ranks:
            arrived = torch.empty_like(x)
            dist.recv(arrived, rank + bit)
            x += arrived
        bit *= 2
    if rank:
        dist.send(x, rank - bit)
        dist.recv(x, rank - bit)
    while bit > 1:
        bit //= 2
        if rank + bit < ranks:
            dist.send(x, rank + bit)
    return x


def _alike(rng: Random, ranks: int, count: int, dtype: str = "float32", shape: tuple[int, ...] | None = None) -> Case:
    """A tensor of ``count`` elements on every rank: integers from -1000 to 1000, floats from -1 to 1."""

    def vector() -> Tensor:
        draw = (lambda: rng.randint(-1000, 1000)) if dtype == "int64" else (lambda: rng.uniform(-1, 1))
        return Tensor.of([draw() for _ in range(count)], dtype, shape)

    return Case(args=tuple((vector(),) for _ in range(ranks)))


def _tree(rng: Random) -> Case:
    return _alike(rng, rng.randint(2, 4), rng.randint(1, 40), rng.choice(["float32", "int64"]))


def _tree_of_each(rng: Random) -> list[Case]:
    """Three and four ranks twice, and two."""
    sizes = ((4, "float32"), (3, "int64"), (4, "int64"), (3, "float32"), (2, "float64"))
    return [_alike(rng, ranks, rng.randint(2, 40), dtype) for ranks, dtype in sizes]


def _shapes(rng: Random) -> Case:
    """One rank, no elements, two dimensions."""
    return rng.choice(_shapes_of_each(rng))


def _shapes_of_each(rng: Random) -> list[Case]:
    return [_alike(rng, 1, 5), _alike(rng, 3, 0), _alike(rng, 4, 6, shape=(2, 3))]


def _long(rng: Random) -> Case:
    return _alike(rng, rng.choice([3, 4]), rng.randint(4000, 5000))


TREE_ALL_REDUCE = Build(
    id="04-tree-all-reduce",
    module="tree_collectives",
    function="tree_all_reduce",
    grade="world",
    probe="ch02.written_over",
    section="4.3",
    topic="tree all-reduce",
    tolerance=1e-5,
    cases=(
        Case(args=tuple((Tensor.of([r + 1.0]),) for r in range(3))),
        Case(args=tuple((Tensor.of([(r + 1) * v for v in (1, 2, 3, 4)], "int64"),) for r in range(4))),
        Case(args=((Tensor.of([0.5, -1.0]),), (Tensor.of([0.25, 2.0]),))),
        Case(args=((Tensor.of([1.0, 2.0, 3.0]),),)),
    ),
    groups=(
        Group(
            "two to four ranks", _tree, 5, "With three ranks, rank 2 has no partner on the first level.", _tree_of_each
        ),
        Group("shapes", _shapes, 3, "There may be one rank, no elements, or more than one dimension.", _shapes_of_each),
        Group("long tensors", _long, 2, "Tensors may be long: a send then waits for its receive."),
    ),
    slips=(
        Slip("A partner lies outside the world: with three ranks, rank 2 has no child.", slip_partner_outside),
        Slip("That is a star: rank 0 takes in one message per rank, not one per level.", slip_star),
        Slip("That is a chain: its last rank is N-1 messages away from rank 0, not one per level.", slip_chain),
        Slip("Rank 0 answered before all of its children had reported: their sums were missing.", slip_too_early),
        Slip("The sums were added into x: copy it first.", slip_into_x),
    ),
    rule=rules.every(
        rules.only_messages,
        ch04_rules.tree_messages,
        ch04_rules.tree_levels,
        rules.no_empty_messages,
        rules.same_bits,
        least.by_everyone(least.first_tensor),
    ),
)


# --- debug_barrier


def wrong_barrier(x, calls):
    import time

    import torch.distributed as dist

    buffer = x.clone()
    seconds = 0.0
    for _ in range(calls):
        start = time.perf_counter()
        dist.all_reduce(buffer)
        dist.barrier()
        seconds += time.perf_counter() - start
    return seconds / calls


def slip_guess(x, calls):
    import time

    import torch.distributed as dist

    buffer = x.clone()
    start = time.perf_counter()
    dist.barrier()
    guess = time.perf_counter() - start
    seconds = 0.0
    for _ in range(calls):
        start = time.perf_counter()
        dist.all_reduce(buffer)
        dist.barrier()
        seconds += time.perf_counter() - start - guess
    return seconds / calls


def slip_no_meeting(x, calls):
    import time

    import torch.distributed as dist

    buffer = x.clone()
    start = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(buffer)
    return (time.perf_counter() - start) / calls


def _benchmark(rng: Random, ranks: int, calls: int) -> Case:
    return Case(args=tuple((Tensor.of([rng.uniform(-1, 1) for _ in range(64)]), calls) for _ in range(ranks)))


def _timed(rng: Random) -> Case:
    return _benchmark(rng, rng.randint(2, 4), rng.randint(3, 9))


def _twice(rng: Random) -> Case:
    return _benchmark(rng, rng.randint(2, 4), 2)


DEBUG_BARRIER = Debug(
    id="04-debug-barrier",
    module="tree_collectives",
    function="debug_barrier",
    grade="world",
    section="4.9",
    topic="measuring",
    tolerance=math.inf,  # a time differs from run to run: the rule holds it against the calls
    cases=(_benchmark(Random("04-debug-barrier"), 2, 4), _benchmark(Random("04-debug-barrier"), 3, 2)),
    groups=(
        Group("several calls", _timed, 4, "Let the ranks meet once, then time all calls together."),
        Group("two calls", _twice, 2, "The ranks meet before the clock starts, and not again while it runs."),
    ),
    slips=(
        Slip("A barrier still stands between the calls: the ranks meet once, before the clock starts.", wrong_barrier),
        Slip("A guess was subtracted: take the barrier out of the timed region instead.", slip_guess),
        Slip("The ranks never met: the first call then also times how late the last rank came.", slip_no_meeting),
    ),
    rule=ch04_rules.one_meeting,
    wrong=wrong_barrier,
)

ITEMS = (TREE_ALL_REDUCE, DEBUG_BARRIER)

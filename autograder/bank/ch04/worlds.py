"""Chapter 04: an all-reduce along a tree and a benchmark to debug, both on real ranks."""

from __future__ import annotations

import math
from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch04 import rules as ch04_rules
from autograder.bank.groups import listed
from autograder.bank.vectors import alike, matrices
from autograder.items import Build, Case, Debug, Group, Slip, Tensor


def _tree_of_each(rng: Random) -> list[Case]:
    """Three and four ranks twice, and two."""
    sizes = ((4, "float32"), (3, "int64"), (4, "int64"), (3, "float32"), (2, "float64"))
    return [alike(rng, ranks, rng.randint(2, 40), dtype) for ranks, dtype in sizes]


def _shapes_of_each(rng: Random) -> list[Case]:
    """One rank, no elements, two dimensions."""
    return [alike(rng, 1, 5), alike(rng, 3, 0), matrices(rng, 4, 2, 3)]


def _long(rng: Random) -> Case:
    return alike(rng, rng.choice([3, 4]), rng.randint(4000, 5000))


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
        listed("two to four ranks", _tree_of_each, "With three ranks, rank 2 has no partner on the first level."),
        listed("shapes", _shapes_of_each, "There may be one rank, no elements, or more than one dimension."),
        Group("long tensors", _long, 2, "Tensors may be long: a send then waits for its receive."),
    ),
    slips=(
        Slip(
            "A partner lies outside the world: with three ranks, rank 2 has no child.",
            edits=(
                ("if rank + bit < ranks:\n            arrived", "if bit < ranks:\n            arrived"),
                ("if rank + bit < ranks:\n            dist.send", "if bit < ranks:\n            dist.send"),
            ),
        ),
        Slip(
            "That is a star: rank 0 takes in one message per rank, not one per level.",
            edits=(
                ("not rank & bit:", "not rank:"),
                ("bit *= 2", "bit += 1"),
                ("dist.send(total, rank - bit)", "dist.send(total, 0)"),
                ("dist.recv(total, rank - bit)", "dist.recv(total, 0)"),
                ("bit //= 2", "bit -= 1"),
            ),
        ),
        Slip(
            "That is a chain: its last rank is N-1 messages away from rank 0, not one per level.",
            edits=(
                ("bit < ranks and not rank & bit:", "bit == 1:"),
                ("dist.send(total, rank - bit)", "dist.send(total, rank - 1)"),
                ("dist.recv(total, rank - bit)", "dist.recv(total, rank - 1)"),
            ),
        ),
        Slip(
            "Rank 0 answered before all of its children had reported: their sums were missing.",
            edits=(
                (
                    "total += arrived",
                    "total += arrived\n            if rank == 0:\n                dist.send(total, rank + bit)",
                ),
                ("while bit > 1:", "while rank and bit > 1:"),
            ),
        ),
        Slip(
            "The sums were added into x: copy it first.", edit=("x.clone(memory_format=torch.contiguous_format)", "x")
        ),
    ),
    rule=rules.every(
        rules.only_messages,
        ch04_rules.tree_messages,
        ch04_rules.tree_levels,
        rules.no_empty_messages,
        rules.same_bits,
        least_received.by_everyone(least_received.first_tensor),
    ),
)


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


def _benchmark(rng: Random, ranks: int, calls: int) -> Case:
    return Case(args=tuple((Tensor.of([rng.uniform(-1, 1) for _ in range(64)]), calls) for _ in range(ranks)))


def _timed(rng: Random) -> Case:
    return _benchmark(rng, rng.randint(2, 4), rng.randint(3, 9))


def _twice(rng: Random) -> Case:
    return _benchmark(rng, rng.randint(2, 4), 2)


def _many(rng: Random) -> Case:
    """So many calls that their total, or a time in another unit, is far above the time of one."""
    return _benchmark(rng, 2, rng.randint(200, 240))


DEBUG_BARRIER = Debug(
    id="04-debug-barrier",
    module="tree_collectives",
    function="debug_barrier",
    grade="world",
    section="4.7",
    topic="measuring",
    tolerance=math.inf,  # a time differs from run to run: the rule holds it against the calls
    cases=(_benchmark(Random("04-debug-barrier"), 2, 4), _benchmark(Random("04-debug-barrier"), 3, 2)),
    groups=(
        Group("several calls", _timed, 4, "Let the ranks meet once, then time all calls together."),
        Group("two calls", _twice, 2, "The ranks meet before the clock starts, and not again while it runs."),
        Group("many calls", _many, 1, "The mean of one call, in seconds: the total divided by the calls."),
    ),
    slips=(
        Slip(
            "There is still a barrier between the calls: the ranks meet once, before the clock starts.", wrong_barrier
        ),
        Slip(
            "The ranks meet before the clock starts, but then again at every call: once is enough.",
            program=wrong_barrier,
            edit=("    seconds = 0.0", "    dist.barrier()\n    seconds = 0.0"),
        ),
        Slip(
            "What was returned is far longer than the run: the mean time of one call in seconds is the total, divided "
            "by `calls`.",
            edit=("(time.perf_counter() - start) / calls", "(time.perf_counter() - start) * 1e9"),
        ),
        Slip(
            "The ranks never met: the first call then also times how late the last rank came.",
            edit=("    dist.barrier()\n", ""),
        ),
    ),
    rule=ch04_rules.one_meeting,
    wrong=wrong_barrier,
)

ITEMS = (TREE_ALL_REDUCE, DEBUG_BARRIER)

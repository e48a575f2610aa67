"""Chapter 4: ``debug_barrier``, measuring."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.items import Case, Debug, Group, Promise, Right, Slip, Tensor
from rankzero.events import Event

#: How much less than the sum of its calls a time may be, for the rounding of clocks.
ROUNDING = 1 - 1e-6

#: Seconds for which a busy host may hold up a process between its last call and the moment when it reads the clock.
PAUSE = 2.0


def one_meeting(case: Case, values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """The ranks meet, then all-reduces follow one another, and the time is that of one, up to a pause of the host.

    The ranks may also meet after the last one, inside the clock or outside: one clock runs between two meetings.
    """
    for rank, (_, calls) in enumerate(case.args):
        mine = [event for event in events if event.rank == rank]
        last = mine[-1] if mine else None
        if last and last.operation == "barrier":
            mine = mine[:-1]
        timed, before = mine[max(len(mine) - calls, 0) :], mine[: max(len(mine) - calls, 0)]
        if last is None or any(event.operation != "all_reduce" for event in timed) or len(timed) < calls:
            return "other operations run between the timed all-reduces and are timed with them"
        if not before:
            return "the ranks did not meet before the first timed all-reduce"
        if values[rank] * calls < ROUNDING * sum(event.end - event.start for event in timed):
            return f"the time that rank {rank} returned is shorter than its all-reduces took"
        if not values[rank] * calls <= last.end - before[-1].end + PAUSE:
            return f"{calls} times what rank {rank} returned is longer than the whole run: return the mean, in seconds"
    return None


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


def timed_after_a_warm_up(x, calls):
    import torch.distributed as dist

    buffer = x.clone()
    dist.all_reduce(buffer)
    dist.barrier()
    start = time.perf_counter()
    for _ in range(calls):
        dist.all_reduce(buffer)
    seconds = time.perf_counter() - start
    return seconds / calls


def timed_in_nanoseconds(x, calls):
    import torch
    import torch.distributed as dist

    buffer = torch.empty_like(x).copy_(x)
    dist.barrier()
    start = time.perf_counter_ns()
    for _ in range(calls):
        dist.all_reduce(buffer)
    return (time.perf_counter_ns() - start) / 1e9 / calls


EXERCISE = Debug(
    "04 tree_collectives.debug_barrier",
    section="4.7",
    topic="measuring",
    grade="world",
    tolerance=math.inf,  # a time differs from run to run: the rule holds it against the calls
    rule=one_meeting,
    wrong=wrong_barrier,
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
    rights=(
        Right("a warm-up first", program=timed_after_a_warm_up),
        Right("in nanoseconds", program=timed_in_nanoseconds),
    ),
    promises=(
        Promise("unchanged afterwards.", edit=("buffer = x.clone()", "buffer = x")),
        Promise("the ranks meet, then one clock runs", edit=("    dist.barrier()\n", "")),
    ),
)

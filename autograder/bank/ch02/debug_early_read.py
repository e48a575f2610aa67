"""Chapter 2: ``debug_early_read``, non-blocking messages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch02.rules import calls
from autograder.bank.groups import listed
from autograder.bank.rules import every, no_barrier
from autograder.items import Case, Debug, Group, Promise, Right, Slip
from rankzero.events import Event


def wrong_early_read(numbers):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if rank == 0:
        for peer in range(1, ranks):
            dist.recv(ready, peer)
            dist.send(mine, peer)
        return mine.tolist()
    buffer = torch.zeros_like(mine)
    dist.irecv(buffer, 0)
    received = buffer.tolist()
    dist.send(ready, 0)
    return received


def _numbers(rng: Random, ranks: int) -> Case:
    """None of them 0, none that float32 holds, and other ones on every rank."""
    count = rng.randint(1, 6)
    return Case(args=tuple(([rng.uniform(1, 999) for _ in range(count)],) for _ in range(ranks)))


def _many_ranks_each(rng: Random) -> list[Case]:
    return [_numbers(rng, ranks) for ranks in (4, 3, 2)]


def _one_rank(rng: Random) -> Case:
    return _numbers(rng, 1)


def _numbers_of_rank_0(case: Case) -> list[int]:
    """In float64."""
    return [0] + [8 * len(case.args[0][0])] * (len(case.args) - 1)


def told_when_ready(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every rank posts its receive, then sends to rank 0, which answers what it has received."""
    for rank in range(1, len(case.args)):
        posted, told = calls(events, rank, "recv")[:1], calls(events, rank, "send")[:1]
        heard = [event for event in calls(events, 0, "recv") if event.peers == (rank,)][:1]
        answered = [event for event in calls(events, 0, "send") if event.peers == (rank,)][:1]
        if not (told and heard):
            return f"rank {rank} did not tell rank 0 that it is ready"
        if not posted or posted[0].start > told[0].start:
            return f"rank {rank} told rank 0 that it is ready before it had posted its receive"
        if not answered or answered[0].start < heard[0].end:
            return f"rank 0 sent to rank {rank} before it had heard that rank {rank} is ready"
    return None


def told_without_blocking(numbers):
    import torch
    import torch.distributed as dist

    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if dist.get_rank():
        arriving, told = dist.irecv(mine, 0), dist.isend(ready, 0)
        told.wait()
        arriving.wait()
    else:
        for peer in range(1, dist.get_world_size()):
            dist.recv(ready, peer)
            dist.send(mine, peer)
    return mine.tolist()


def answered_in_reverse(numbers):
    """Rank 0 posts all receives and answers the last rank first."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if rank == 0:
        for peer in reversed(range(1, ranks)):
            dist.recv(ready, peer)
            dist.send(mine, peer)
        return numbers
    arrived = torch.empty_like(mine)
    handle: Any = dist.irecv(arrived, 0)
    dist.send(ready, 0)
    handle.wait()
    return arrived.tolist()


EXERCISE = Debug(
    "02 point_to_point.debug_early_read",
    section="2.13",
    topic="non-blocking messages",
    bonus=True,
    grade="world",
    rule=every(no_barrier, told_when_ready, least_received.heard(_numbers_of_rank_0)),
    wrong=wrong_early_read,
    cases=(
        Case(args=(([1.5, 2.5],), ([0.0, 0.0],))),
        Case(args=(([3.0],), ([0.0],), ([0.0],), ([0.0],))),
    ),
    groups=(
        listed("two ranks or more", _many_ranks_each, "Rank 0's numbers arrive on every rank."),
        Group("one rank", _one_rank, 1, "One rank has its own numbers."),
    ),
    slips=(
        Slip(
            "The buffer was read before the wait: keep the handle, wait, then read. A pause is no wait.",
            wrong_early_read,
        ),
        Slip(
            "Rank 0 sends when it is told to: the wait comes after that message.",
            edit=(
                "    dist.send(ready, 0)\n    handle.wait()",
                "    handle.wait()\n    dist.send(ready, 0)",
            ),
        ),
        Slip(
            "The rank said that it was ready before its receive was posted: post it first, then tell rank 0.",
            edit=(
                "    handle: Any = dist.irecv(buffer, 0)\n    dist.send(ready, 0)\n",
                "    dist.send(ready, 0)\n    handle: Any = dist.irecv(buffer, 0)\n",
            ),
        ),
        Slip(
            "Nobody told rank 0 that it was ready: rank 0 sends when it has heard from a rank.",
            edits=(("            dist.recv(ready, peer)\n", ""), ("    dist.send(ready, 0)\n", "")),
        ),
        Slip(
            "A barrier says that all ranks are here, not that the message is: wait for the handle.",
            edits=(
                ("        return mine.tolist()", "        dist.barrier()\n        return mine.tolist()"),
                ("handle: Any = dist.irecv", "dist.irecv"),
                ("handle.wait()", "dist.barrier()"),
            ),
        ),
        Slip(
            "The rank's own numbers were returned: those that arrived are in the buffer.",
            edit=("return buffer.tolist()", "return mine.tolist()"),
        ),
    ),
    rights=(
        Right("two handles", program=told_without_blocking),
        Right("the last rank is answered first", program=answered_in_reverse),
    ),
    promises=(Promise("Rank 0's numbers, as float64.", edit=("dtype=torch.float64", "dtype=torch.float32")),),
)

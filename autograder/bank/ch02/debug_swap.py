"""Chapter 2: ``debug_swap``, deadlock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.bank.vectors import alike
from autograder.items import Case, Debug, Group, Promise, Right, Slip, Tensor
from rankzero.events import Event


def wrong_swap(x):
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    partner = rank + 1 if rank % 2 == 0 else rank - 1
    arrived = torch.empty_like(x)
    dist.send(x, partner)
    dist.recv(arrived, partner)
    return arrived


def _pairs_of_each(rng: Random) -> list[Case]:
    return [alike(rng, ranks, rng.randint(2, 9), dtype) for ranks in (4, 2) for dtype in ("float32", "int64")]


def _long_pairs(rng: Random) -> Case:
    return alike(rng, 4, rng.randint(20_000, 30_000))


def blocking_calls(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """A rank makes no call before the one before has ended."""
    for rank in range(len(case.args)):
        mine = sorted((event for event in events if event.rank == rank), key=lambda event: event.start)
        for first, second in pairwise(mine):
            if second.start < first.end:
                return (
                    f"rank {rank} called {second.operation} before its {first.operation} had ended: use blocking calls"
                )
    return None


def swapped_by_order(x):
    """The lower partner sends first, the higher one receives first."""
    import torch.distributed as dist

    rank = dist.get_rank()
    partner, arrived = rank ^ 1, x.new_empty(x.shape)
    calls = [lambda: dist.send(x, partner), lambda: dist.recv(arrived, partner)]
    for call in calls if rank < partner else calls[::-1]:
        call()
    return arrived


PAIR = "        dist.send(x, rank + 1)\n        dist.recv(arrived, rank + 1)"


EXERCISE = Debug(
    "02 point_to_point.debug_swap",
    section="2.4",
    topic="deadlock",
    grade="world",
    rule=every(only_messages, blocking_calls, least_received.by_everyone(least_received.first_tensor)),
    wrong=wrong_swap,
    cases=(
        Case(args=tuple((Tensor.of([r], "int64"),) for r in range(2))),
        Case(args=tuple((Tensor.of([r], "int64"),) for r in range(4))),
    ),
    groups=(
        listed("pairs", _pairs_of_each, "The partners swap, with one blocking send and one blocking receive."),
        Group("long messages", _long_pairs, 2, "A program that swaps single numbers must swap long tensors, too."),
    ),
    slips=(
        Slip(
            "Both partners make the same call first, and wait for each other: let the odd ranks receive first.",
            wrong_swap,
        ),
        Slip(
            "That goes around a ring: the partner of rank 1 is rank 0, both ways.",
            edits=(
                ("dist.recv(arrived, rank + 1)", "dist.recv(arrived, (rank - 1) % dist.get_world_size())"),
                ("dist.send(x, rank - 1)", "dist.send(x, (rank + 1) % dist.get_world_size())"),
            ),
        ),
        Slip(
            "Keep the calls blocking: with the right order nothing has to be posted ahead.",
            program=wrong_swap,
            edits=(
                ("dist.send(x, partner)", "sending = dist.isend(x, partner)"),
                ("    return", "    sending.wait()\n    return"),
            ),
        ),
        Slip(
            "`x` was the receive buffer: an odd rank overwrites it, and sends back what it has received.",
            edit=("torch.empty_like(x)", "x"),
        ),
        Slip(
            "Only the odd ranks got something: both partners send and receive.",
            edits=(
                ("torch.empty_like(x)", "x.clone()"),
                ("\n        dist.recv(arrived, rank + 1)", ""),
                ("\n        dist.send(x, rank - 1)", ""),
            ),
        ),
    ),
    rights=(
        Right("calls in a list", program=swapped_by_order),
        Right(
            "posted and waited for at once",
            edits=(
                ("        dist.send(x, rank + 1)", "        dist.isend(x, rank + 1).wait()"),
                ("        dist.recv(arrived, rank + 1)", "        dist.irecv(arrived, rank + 1).wait()"),
            ),
        ),
    ),
    promises=(
        Promise("unchanged afterwards.", edit=("    return arrived", "    return x.copy_(arrived).clone()")),
        Promise("The partner's tensor, a new one.", edit=("    return arrived", "    return x.copy_(arrived)")),
        Promise(
            "One blocking send and one blocking receive on every rank.",
            edit=(
                PAIR,
                "        sending: Any = dist.isend(x, rank + 1)\n"
                "        dist.recv(arrived, rank + 1)\n        sending.wait()",
            ),
        ),
    ),
)

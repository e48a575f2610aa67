"""Chapter 02: two programs on real ranks to debug. The labs hold their wrong versions as they are here."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received
from autograder.bank.ch02 import rules
from autograder.bank.groups import listed
from autograder.bank.rules import every, no_barrier, only_messages
from autograder.bank.vectors import alike
from autograder.items import Case, Debug, Group, Slip, Tensor


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


DEBUG_SWAP = Debug(
    id="02-debug-swap",
    module="point_to_point",
    function="debug_swap",
    grade="world",
    section="2.4",
    topic="deadlock",
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
    rule=every(only_messages, rules.blocking_calls, least_received.by_everyone(least_received.first_tensor)),
    wrong=wrong_swap,
)


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


DEBUG_EARLY_READ = Debug(
    id="02-debug-early-read",
    module="point_to_point",
    function="debug_early_read",
    grade="world",
    section="2.13",
    topic="non-blocking messages",
    bonus=True,
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
    rule=every(no_barrier, rules.told_when_ready, least_received.heard(_numbers_of_rank_0)),
    wrong=wrong_early_read,
)

ITEMS = (DEBUG_SWAP, DEBUG_EARLY_READ)

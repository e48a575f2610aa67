"""Chapter 02: two programs on real ranks to debug. The labs hold their wrong versions as they are here."""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

from random import Random

from autograder.bank import least
from autograder.bank.ch02 import rules
from autograder.bank.rules import every, no_barrier, only_messages
from autograder.bank.vectors import alike
from autograder.items import Case, Debug, Group, Slip, Tensor

# --- debug_swap


def wrong_swap(x):
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    partner = rank + 1 if rank % 2 == 0 else rank - 1
    arrived = torch.empty_like(x)
    dist.send(x, partner)
    dist.recv(arrived, partner)
    return arrived


def slip_next_rank(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    arrived = torch.empty_like(x)
    if rank % 2 == 0:
        dist.send(x, (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
    else:
        dist.recv(arrived, (rank - 1) % ranks)
        dist.send(x, (rank + 1) % ranks)
    return arrived


def slip_posts_both(x):
    import torch
    import torch.distributed as dist

    rank = dist.get_rank()
    partner = rank + 1 if rank % 2 == 0 else rank - 1
    arrived = torch.empty_like(x)
    sending = dist.isend(x, partner)
    dist.recv(arrived, partner)
    sending.wait()
    return arrived


def slip_receives_into_x(x):
    import torch.distributed as dist

    rank = dist.get_rank()
    partner = rank + 1 if rank % 2 == 0 else rank - 1
    if rank % 2 == 0:
        dist.send(x, partner)
        dist.recv(x, partner)
    else:
        dist.recv(x, partner)
        dist.send(x, partner)
    return x


def slip_copied(x):
    import torch.distributed as dist

    rank = dist.get_rank()
    partner = rank + 1 if rank % 2 == 0 else rank - 1
    arrived = x.clone()
    if rank % 2 == 0:
        dist.send(x, partner)
    else:
        dist.recv(arrived, partner)
    return arrived


def _pairs(rng: Random) -> Case:
    return alike(rng, rng.choice((2, 4)), rng.randint(1, 9), rng.choice(("float32", "int64")))


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
        Group(
            "pairs", _pairs, 4, "The partners swap, with one blocking send and one blocking receive.", _pairs_of_each
        ),
        Group("long messages", _long_pairs, 2, "What swaps a number swaps a long tensor."),
    ),
    slips=(
        Slip(
            "Both partners make the same call first, and wait for each other: let the odd ranks receive first.",
            wrong_swap,
        ),
        Slip("That goes round a ring: the partner of rank 1 is rank 0, both ways.", slip_next_rank),
        Slip("The calls are to stay blocking: with the right order nothing has to be posted ahead.", slip_posts_both),
        Slip(
            "`x` was the receive buffer: an odd rank overwrites it, and sends back what it has received.",
            slip_receives_into_x,
        ),
        Slip("Only the odd ranks got something: both partners send and receive.", slip_copied),
    ),
    rule=every(only_messages, rules.blocking_calls, least.by_everyone(least.first_tensor)),
    wrong=wrong_swap,
)


# --- debug_early_read


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


def slip_barrier(numbers):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine, ready = torch.tensor(numbers, dtype=torch.float64), torch.ones(1)
    if rank == 0:
        for peer in range(1, ranks):
            dist.recv(ready, peer)
            dist.send(mine, peer)
        dist.barrier()
        return mine.tolist()
    buffer = torch.zeros_like(mine)
    dist.irecv(buffer, 0)
    dist.send(ready, 0)
    dist.barrier()
    return buffer.tolist()


def slip_waits_before_asking(numbers):
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
    dist.irecv(buffer, 0).wait()
    dist.send(ready, 0)
    return buffer.tolist()


def slip_own_numbers(numbers):
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
    handle = dist.irecv(buffer, 0)
    dist.send(ready, 0)
    handle.wait()
    return mine.tolist()


def _numbers(rng: Random, ranks: int) -> Case:
    """None of them 0, none that float32 holds, and other ones on every rank."""
    count = rng.randint(1, 6)
    return Case(args=tuple(([rng.uniform(1, 999) for _ in range(count)],) for _ in range(ranks)))


def _many_ranks(rng: Random) -> Case:
    return _numbers(rng, rng.randint(2, 4))


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
    section="2.5",
    topic="non-blocking messages",
    cases=(
        Case(args=(([1.5, 2.5],), ([0.0, 0.0],))),
        Case(args=(([3.0],), ([0.0],), ([0.0],), ([0.0],))),
    ),
    groups=(
        Group("two ranks or more", _many_ranks, 3, "Rank 0's numbers arrive on every rank.", _many_ranks_each),
        Group("one rank", _one_rank, 1, "One rank has its own numbers."),
    ),
    slips=(
        Slip(
            "The buffer was read before the wait: keep the handle, wait, then read. A pause is no wait.",
            wrong_early_read,
        ),
        Slip("Rank 0 sends when it is told to: the wait comes after that message.", slip_waits_before_asking),
        Slip("A barrier says that all ranks are here, not that the message is: wait for the handle.", slip_barrier),
        Slip("The rank's own numbers were returned: those that arrived are in the buffer.", slip_own_numbers),
    ),
    rule=every(no_barrier, least.heard(_numbers_of_rank_0)),
    wrong=wrong_early_read,
)

ITEMS = (DEBUG_SWAP, DEBUG_EARLY_READ)

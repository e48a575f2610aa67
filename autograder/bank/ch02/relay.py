"""Chapter 02: a number that goes down a chain of ranks: a build item.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

from random import Random

from autograder.bank.ch02 import rules
from autograder.bank.rules import every, only_messages
from autograder.items import Build, Case, Group, Slip


def slip_last_forgets(value, increment):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = torch.tensor([value], dtype=torch.float64)
    if rank > 0:
        dist.recv(held, rank - 1)
    if 0 < rank < ranks - 1:
        held += increment
    if rank < ranks - 1:
        dist.send(held, rank + 1)
    return held.item()


def slip_last_sends_too(value, increment):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = torch.tensor([value], dtype=torch.float64)
    if rank > 0:
        dist.recv(held, rank - 1)
        held += increment
    if ranks > 1:
        dist.send(held, (rank + 1) % ranks)
    return held.item()


def slip_small_buffer(value, increment):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = torch.tensor([value], dtype=torch.float64)
    if rank > 0:
        buffer = torch.zeros(1)
        dist.recv(buffer, rank - 1)
        held = buffer.double() + increment
    if rank < ranks - 1:
        dist.send(held, rank + 1)
    return held.item()


def slip_all_receive_first(value, increment):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = torch.tensor([value], dtype=torch.float64)
    dist.recv(held, (rank - 1) % ranks)
    if rank > 0:
        held += increment
    if rank < ranks - 1:
        dist.send(held, rank + 1)
    return held.item()


def slip_first_adds(value, increment):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = torch.tensor([value], dtype=torch.float64)
    if rank > 0:
        dist.recv(held, rank - 1)
    held += increment
    if rank < ranks - 1:
        dist.send(held, rank + 1)
    return held.item()


def slip_no_message(value, increment):
    import torch.distributed as dist

    return float(value + dist.get_rank() * increment)


def _chain(rng: Random, ranks: int) -> Case:
    """Rank 0's number travels; the other ranks have one that nobody asked for."""
    increment = rng.randint(1, 999) / 8
    return Case(args=tuple((rng.randint(1000, 99999) / 10, increment) for _ in range(ranks)))


def _chains(rng: Random) -> Case:
    return _chain(rng, rng.randint(2, 4))


def _chains_of_each(rng: Random) -> list[Case]:
    return [_chain(rng, ranks) for ranks in (4, 3, 2)]


def _same_start(rng: Random) -> Case:
    """One value everywhere, so that no message seems to be needed."""
    value, increment = rng.randint(-99, 99) + 0.1, rng.randint(1, 99) + 0.7
    return Case(args=((value, increment),) * rng.randint(2, 4))


def _own_increments(rng: Random) -> Case:
    """Every rank adds another increment."""
    return Case(args=tuple((rng.randint(1000, 99999) / 10, rng.randint(1, 999) / 8) for _ in range(rng.randint(3, 4))))


def _alone(rng: Random) -> Case:
    return _chain(rng, 1)


RELAY = Build(
    id="02-relay",
    module="point_to_point",
    function="relay",
    grade="world",
    section="2.2",
    topic="messages",
    cases=(Case(args=((42, 10),) * 4), Case(args=((0.1, 0.2),) * 3), Case(args=((42, 10),))),
    groups=(
        Group(
            "chains",
            _chains,
            3,
            "The value of rank 0 goes down the chain; every rank that receives adds.",
            _chains_of_each,
        ),
        Group("one start", _same_start, 2, "Each rank but the last sends one float64 to the next, even if it knows."),
        Group("own increments", _own_increments, 2, "Each rank adds its own increment to the number that it receives."),
        Group("one rank", _alone, 2, "One rank has nobody to send to."),
    ),
    slips=(
        Slip("The last rank did not add: it receives, so it adds as well.", slip_last_forgets),
        Slip(
            "The last rank must not send: nobody receives, so it never gets out of its send.",
            slip_last_sends_too,
        ),
        Slip("All ranks receive first, so nobody sends: rank 0 starts.", slip_all_receive_first),
        Slip("The message is a float64 and the buffer a float32: nothing on the way converts.", slip_small_buffer),
        Slip("Rank 0 added to its own value: it receives nothing.", slip_first_adds),
        Slip("Nothing was sent: the number has to travel.", slip_no_message),
    ),
    rule=every(only_messages, rules.relay_ledger),
)

ITEMS = (RELAY,)

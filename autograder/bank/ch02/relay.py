"""Chapter 2: ``relay``, messages."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.ch02.rules import calls, messages
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.events import Event


def _chain(rng: Random, ranks: int) -> Case:
    """Rank 0's number is passed on; the other ranks have numbers that must not be used."""
    increment = rng.randint(1, 999) / 8
    return Case(args=tuple((rng.randint(1000, 99999) / 10, increment) for _ in range(ranks)))


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


def relay_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every rank but the last sends one message of 8 bytes to the next."""
    for rank in range(len(case.args)):
        sent = [(event.peers, event.sent) for event in calls(events, rank, "send")]
        if sent != [((rank + 1,), 8)] * (rank < len(case.args) - 1):
            total = sum(size for _, size in sent)
            return (
                f"rank {rank} sent {messages(len(sent))}, {total} bytes in all; every rank but the last sends 8 bytes"
            )
    return None


def relayed_as_bits(value, increment):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    held = torch.tensor([value], dtype=torch.float64)
    if rank:
        bits = torch.empty(1, dtype=torch.int64)
        dist.irecv(bits, rank - 1).wait()  # type: ignore[union-attr]
        held = increment + bits.view(torch.float64)
    if rank < ranks - 1:
        dist.isend(held.view(torch.int64), rank + 1).wait()  # type: ignore[union-attr]
    return held.item()


NEXT = "        dist.send(held, rank + 1)"


EXERCISE = Build(
    "02 point_to_point.relay",
    section="2.2",
    topic="messages",
    grade="world",
    rule=every(only_messages, relay_ledger),
    cases=(Case(args=((42, 10),) * 4), Case(args=((0.1, 0.2),) * 3), Case(args=((42, 10),))),
    groups=(
        listed("chains", _chains_of_each, "The value of rank 0 goes down the chain; every rank that receives adds."),
        Group(
            "one start",
            _same_start,
            2,
            "Each rank but the last sends one float64, even where all hold the same number.",
        ),
        Group("own increments", _own_increments, 2, "Each rank adds its own increment to the number that it receives."),
        Group("one rank", _alone, 2, "One rank has nobody to send to."),
    ),
    slips=(
        Slip(
            "The last rank did not add: it receives, so it adds as well.",
            edit=("held += increment", "held += increment if rank < ranks - 1 else 0"),
        ),
        Slip(
            "The last rank must not send: nobody receives, so it never gets out of its send.",
            edits=(
                ("if rank < ranks - 1:", "if ranks > 1:"),
                ("dist.send(held, rank + 1)", "dist.send(held, (rank + 1) % ranks)"),
            ),
        ),
        Slip(
            "All ranks receive first, so nobody sends: rank 0 starts.",
            edit=(
                "if rank > 0:\n        dist.recv(held, rank - 1)",
                "dist.recv(held, (rank - 1) % ranks)\n    if rank > 0:",
            ),
        ),
        Slip(
            "The message is a float64 and the buffer a float32: nothing on the way converts.",
            edit=(
                "dist.recv(held, rank - 1)",
                "buffer = torch.zeros(1)\n        dist.recv(buffer, rank - 1)\n        held = buffer.double()",
            ),
        ),
        Slip(
            "Rank 0 added to its own value: it receives nothing.",
            edit=("        held += increment", "    held += increment"),
        ),
        Slip(
            "Nothing was sent: the number has to travel.",
            edits=(
                ("dist.recv(held, rank - 1)\n        held += increment", "held += rank * increment"),
                ("    if rank < ranks - 1:\n        dist.send(held, rank + 1)\n", ""),
            ),
        ),
    ),
    rights=(
        Right("the bits as integers, posted and waited for", program=relayed_as_bits),
        Right("the sum in Python", edit=("        held += increment", "        held[0] = float(held) + increment")),
    ),
    promises=(
        Promise(
            "Rank 0 starts and the last rank only receives",
            edits=(
                ("if rank < ranks - 1:", "if ranks > 1:"),
                ("dist.send(held, rank + 1)", "dist.send(held, (rank + 1) % ranks)"),
            ),
        ),
        Promise("N - 1 messages of one float64", edit=(NEXT, f"{NEXT}\n        dist.isend(held, rank + 1)")),
        Promise(
            "what this rank adds to the number it receives",
            edits=(
                ("        held += increment\n", ""),
                ("return float(held)", "return float(held + rank * increment)"),
            ),
        ),
    ),
)

"""Chapter 02: a number that goes down a chain of ranks: a build item."""

from __future__ import annotations

from random import Random

from autograder.bank.ch02 import rules
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.items import Build, Case, Group, Slip


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


RELAY = Build(
    id="02-relay",
    module="point_to_point",
    function="relay",
    grade="world",
    section="2.2",
    topic="messages",
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
    rule=every(only_messages, rules.relay_ledger),
)

ITEMS = (RELAY,)

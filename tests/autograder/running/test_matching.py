"""The index of open operations: what reading them all would choose, in the same order, and in time for very many."""

from __future__ import annotations

import sys
from random import Random

import pytest

from autograder.running.matching import OpenOperations
from autograder.running.operations import ANYONE, COLLECTIVES, Operation

GROUPS = (("0", (0, 1, 2)), ("1", (2, 0)), ("2", (1, 2)), ("3", (1, 0)))


def post(rank: int, handle: int, operation: str, group=GROUPS[0], peer: int = ANYONE, tag: int = 0) -> Operation:
    return Operation(rank, handle, operation, operation, group, peer, tag, None, "", (), (), (), None, 0.0)


class Read:
    """The rule itself: read every open operation, in order."""

    def __init__(self, ranks: int) -> None:
        self.open: list[list[Operation]] = [[] for _ in range(ranks)]

    def add(self, one: Operation) -> None:
        self.open[one.rank].append(one)

    def next(self) -> tuple[Operation, ...]:
        for one in (one for operations in self.open for one in operations):
            found = self._receiver(one) if one.kind == "send" else self._together(one)
            if found:
                for taken in found:
                    self.open[taken.rank].remove(taken)
                return found
        return ()

    def _receiver(self, send: Operation) -> tuple[Operation, ...]:
        for receive in self.open[send.peer]:
            alike = receive.kind == "recv" and (receive.group, receive.tag) == (send.group, send.tag)
            if alike and receive.peer in (send.rank, ANYONE):
                return send, receive
        return ()

    def _together(self, one: Operation) -> tuple[Operation, ...]:
        if one.kind not in COLLECTIVES:
            return ()
        found = []
        for rank in one.group[1]:
            mine = [p for p in self.open[rank] if p.group == one.group and p.kind in COLLECTIVES]
            if not mine:
                return ()
            found.append(mine[0])
        return tuple(found)


def drawn(rng: Random, handles: list[int]) -> Operation:
    group = rng.choice(GROUPS)
    rank = rng.choice(group[1])
    operation = rng.choice(("send", "recv", "send", "recv", "all_reduce", "barrier"))
    others = [other for other in group[1] if other != rank]
    peer = ANYONE
    if operation == "send" or (operation == "recv" and rng.random() < 0.6):
        peer = rng.choice(others)
    handles[rank] += 1
    return post(rank, handles[rank] - 1, operation, group, peer, rng.choice((0, 0, 7)))


@pytest.mark.parametrize("seed", range(60))
def test_the_index_chooses_what_reading_everything_would(seed):
    """Kills an index that delivers a later message first, to a later receive, or to the wrong one of two groups."""
    rng, handles = Random(seed), [0, 0, 0]
    quick, slow = OpenOperations(), Read(3)
    carried = 0
    for _ in range(300):
        for one in [drawn(rng, handles) for _ in range(rng.choice((0, 1, 1, 2, 5)))]:
            quick.add(one)
            slow.add(one)
        chosen = slow.next()
        assert quick.next() == chosen
        carried += bool(chosen)
    while chosen := slow.next():
        assert quick.next() == chosen
    assert quick.next() == ()
    assert carried > 50


class Watched(Operation):
    """An operation that counts how often anybody looks at one."""

    looks = 0

    def __getattribute__(self, name: str) -> object:
        Watched.looks += 1
        return super().__getattribute__(name)

    def __eq__(self, other: object) -> bool:
        Watched.looks += 1
        return self is other

    __hash__ = object.__hash__


@pytest.mark.parametrize("kind", ["nobody receives", "every tag once", "the last comes first"])
def test_very_many_operations_are_matched_in_time(kind, monkeypatch):
    """Kills a broker that looks at every open operation for each that it carries out."""
    monkeypatch.setattr(sys.modules[__name__], "Operation", Watched)
    monkeypatch.setattr(Watched, "looks", 0)
    ranks, many = 8, 1000
    group = ("0", tuple(range(ranks)))
    index = OpenOperations()
    for handle in range(many):
        for rank in range(ranks):
            peer = (rank + 1) % ranks
            if kind == "nobody receives":
                index.add(post(rank, handle, "send", group, peer))
            elif rank % 2 == 0:
                index.add(post(rank, handle, "send", group, peer, tag=handle))
            else:
                tag = many - 1 - handle if kind == "the last comes first" else handle
                index.add(post(rank, handle, "recv", group, rank - 1, tag=tag))
    carried = 0
    while index.next():
        carried += 1
    assert carried == (0 if kind == "nobody receives" else many * ranks // 2)
    assert Watched.looks < 100 * many * ranks

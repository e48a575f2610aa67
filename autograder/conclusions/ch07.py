"""Chapter 7: times and peaks of an order of operations, and how many graphs a pipeline held.

Any legal order with the right times and peaks is accepted.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any, Literal

from autograder.items import Case

#: Forward, whole backward, or its halves: gradients of inputs and of weights.
Kind = Literal["F", "B", "I", "W"]
#: Stage, kind and micro-batch.
Operation = tuple[int, Kind, int]
_KINDS: dict[str, Kind] = {"F": "F", "B": "B", "I": "I", "W": "W"}

#: Seconds of each kind when all stages are equal.
UNITS: dict[str, float] = {"F": 1.0, "B": 2.0, "I": 1.0, "W": 1.0}
#: More operations than any schedule of the bank has; longer orders are not simulated.
MOST = 10_000


def pipelined(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with the most graphs alive at once in place of their number after every forward pass."""
    return {**{name: value for name, value in answer.items() if name != "alive"}, "peak": max(answer["alive"])}


def timed(case: Case, orders: Any) -> Any:
    """The properties by which the orders of all ranks are compared.

    Whether they are legal, how long they take with equal and with unequal stages, and for each rank, how many
    micro-batches it holds at most and which stages it has.
    """
    if orders is None:
        return None
    lists = isinstance(orders, list) and all(isinstance(order, list) for order in orders)
    if not lists or not all(isinstance(op, str) for order in orders for op in order):
        return {"orders": "not a list with a list of operations for each rank"}
    if sum(map(len, orders)) > MOST:
        return {"orders": "there are more operations than there is work"}
    rank_of, broken = read(orders)
    if broken:
        return {"orders": broken}
    draw = Random(repr((case.args, sorted(case.kwargs.items()))))
    unequal = {f"{stage}{kind}": draw.uniform(0.5, 2) for stage in range(len(rank_of)) for kind in "FBIW"}
    spans = [makespan(orders, durations) for durations in (UNITS, unequal)]
    if None in spans:
        return {"orders": "the ranks wait for one another: a deadlock"}
    stages = [sorted({_operation(op)[0] for op in order}) for order in orders]
    peaks = [peak(order) for order in orders]
    return {"orders": "legal", "makespan": spans[0], "unequal makespan": spans[1], "peaks": peaks, "stages": stages}


def parse(op: str) -> Operation | None:
    """The operation that ``2F5``, say, stands for; None for any other text."""
    found = re.fullmatch(r"([0-9]{1,9})([FBIW])([0-9]{1,9})", op)
    return (int(found[1]), _KINDS[found[2]], int(found[3])) if found else None


def _operation(op: str) -> Operation:
    """The same for text that is known to be an operation."""
    found = parse(op)
    assert found is not None
    return found


def read(orders: list[list[str]]) -> tuple[dict[int, int], str]:
    """The rank of every stage, and what is wrong with the orders; empty if they are complete and legal."""
    place: dict[str, int] = {}
    rank_of: dict[int, int] = {}
    for rank, order in enumerate(orders):
        for index, op in enumerate(order):
            found = parse(op)
            if found is None:
                return {}, "an operation is not written as 2F5"
            if op in place:
                return {}, "an operation appears twice"
            place[op] = index
            if rank_of.setdefault(found[0], rank) != rank:
                return {}, "a stage is on two ranks"
    count = 1 + max((_operation(op)[2] for op in place), default=-1)
    wanted = 0
    for stage in range(1 + max(rank_of, default=-1)):
        for number in range(count):
            chain = [f"{stage}{kind}{number}" for kind in ("FB" if f"{stage}B{number}" in place else "FIW")]
            wanted += len(chain)
            if not all(op in place for op in chain):
                return {}, "an operation is missing"
            if sorted(chain, key=place.__getitem__) != chain:
                return {}, "a backward comes before what it needs on its own rank"
    return rank_of, "" if wanted == len(place) else "a backward appears both whole and in halves"


def makespan(orders: list[list[str]], durations: dict[str, float]) -> float | None:
    """When the last operation ends: the longest path through the graph of dependencies. None for a deadlock."""
    waits: dict[Operation, int] = {}
    after: dict[Operation, list[Operation]] = {}
    places = {_operation(op) for order in orders for op in order}
    last = max((stage for stage, _, _ in places), default=0)
    for order in orders:
        for index, text in enumerate(order):
            op = stage, kind, number = _operation(text)
            needs = {_operation(order[index - 1])} if index else set()
            if kind == "F" and stage:
                needs.add((stage - 1, "F", number))
            elif kind in "BI" and stage < last:
                needs |= places & {(stage + 1, "B", number), (stage + 1, "I", number)}
            waits[op] = len(needs)
            for need in needs:
                after.setdefault(need, []).append(op)
    ready = [op for op, count in waits.items() if not count]
    start, end, done = dict.fromkeys(waits, 0.0), 0.0, 0
    while ready:
        op = ready.pop()
        finish = start[op] + durations.get(f"{op[0]}{op[1]}", durations.get(op[1], 0.0))
        end, done = max(end, finish), done + 1
        for later in after.get(op, ()):
            start[later] = max(start[later], finish)
            waits[later] -= 1
            if not waits[later]:
                ready.append(later)
    return end if done == len(waits) else None


def peak(order: list[str]) -> int:
    """The most micro-batches that a rank holds."""
    held = most = 0
    for op in order:
        held += {"F": 1, "B": -1, "I": 0, "W": -1}[_operation(op)[1]]
        most = max(most, held)
    return most

"""Chapter 7: ``pipeline_schedule``, pipeline schedules."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import Any, Literal

from autograder.bank.ch07.draws import one_of_each
from autograder.bank.ch07.shared import NAMES
from autograder.bank.groups import listed
from autograder.items import Build, Case, Promise, Right, Slip


def _order(rng: Random, name: str, few: bool = False) -> Case:
    ranks = rng.randint(3, 8)
    if name == "interleaved":
        ranks = rng.randint(2, 5)
        return Case((name, ranks, ranks * rng.randint(1, 4), rng.randint(2, 4)))
    return Case((name, ranks, rng.randint(2, ranks - 1) if few else rng.randint(ranks + 1, 24)))


def _one_of_each(rng: Random) -> list[Case]:
    return [_order(rng, name) for name in (*NAMES, *NAMES, "interleaved")]


def _plain(rng: Random) -> list[Case]:
    return [_order(rng, "gpipe"), _order(rng, "1f1b"), _order(rng, "1f1b", few=True)]


def _chunked(rng: Random) -> list[Case]:
    return [_order(rng, "interleaved") for _ in range(3)]


def _halved(rng: Random) -> list[Case]:
    return [_order(rng, "zb-h1"), _order(rng, "zb-h1"), _order(rng, "zb-h1", few=True)]


def _few(rng: Random) -> list[Case]:
    return [_order(rng, name, few=True) for name in ("gpipe", "1f1b", "zb-h1")]


def _alone(rng: Random) -> list[Case]:
    cases = [Case((name, 1, rng.randint(1, 6))) for name in ("gpipe", "1f1b", "zb-h1")]
    return [*cases, Case(("interleaved", 1, rng.randint(1, 4), rng.randint(2, 3)))]


#: Forward, whole backward, or its halves: gradients of inputs and of weights.
Kind = Literal["F", "B", "I", "W"]

#: Stage, kind and micro-batch.
Operation = tuple[int, Kind, int]

_KINDS: dict[str, Kind] = {"F": "F", "B": "B", "I": "I", "W": "W"}

#: Seconds of each kind when all stages are equal.
UNITS: dict[str, float] = {"F": 1.0, "B": 2.0, "I": 1.0, "W": 1.0}

#: More operations than any schedule of the bank has; longer orders are not simulated.
MOST = 10_000


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
    match = re.fullmatch(r"([0-9]{1,9})([FBIW])([0-9]{1,9})", op)
    return (int(match[1]), _KINDS[match[2]], int(match[3])) if match else None


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


def orders_by_playing(name, ranks, microbatches, virtual_stages=1):
    """For 1F1B: play the pipeline, and let every rank go backward whenever it can; the others are the course's."""
    from solutions.ch07.pipeline import pipeline_schedule

    orders = pipeline_schedule(name, ranks, microbatches, virtual_stages)
    if name != "1f1b":
        return orders
    for rank, order in enumerate(orders):
        order.clear()
        forwards = backwards = 0
        while backwards < microbatches:
            if forwards - backwards < min(ranks - rank, microbatches - backwards):
                order.append(f"{rank}F{forwards}")
                forwards += 1
            else:
                order.append(f"{rank}B{backwards}")
                backwards += 1
    return orders


def gpipe_last_in_first_out(name, ranks, microbatches, virtual_stages=1):
    """The backwards of GPipe from the last micro-batch to the first."""
    from solutions.ch07.pipeline import pipeline_schedule

    orders = pipeline_schedule(name, ranks, microbatches, virtual_stages)
    if name == "gpipe":
        return [order[:microbatches] + order[microbatches:][::-1] for order in orders]
    return orders


EXERCISE = Build(
    "07 pipeline.pipeline_schedule",
    section="7.16",
    topic="pipeline schedules",
    bonus=True,
    probe="ch07_schedules.timed",
    concludes=timed,
    cases=(
        Case(("gpipe", 1, 2)),
        Case(("gpipe", 4, 8)),
        Case(("1f1b", 4, 6)),
        Case(("1f1b", 4, 8)),
        Case(("1f1b", 4, 2)),
        Case(("interleaved", 2, 4, 2)),
        Case(("interleaved", 4, 8, 2)),
        Case(("zb-h1", 3, 4)),
        Case(("zb-h1", 4, 8)),  # Qi et al., ZB-H1: idle (p - 1)(F + I - W)
    ),
    groups=(
        listed(
            "all four",
            _one_of_each,
            "The order of every rank must be legal, as fast as the schedule's own, and hold as few micro-batches.",
        ),
        one_of_each(
            "fewer micro-batches than ranks", _few, "With fewer micro-batches than ranks the warm-up takes all of them."
        ),
        one_of_each("one rank", _alone, "One rank runs a schedule, too."),
        replace(
            one_of_each(
                "GPipe and 1F1B", _plain, "One chunk per rank and whole backwards: the two differ in the warm-up."
            ),
            step="GPipe and 1F1B",
        ),
        replace(
            one_of_each(
                "interleaved", _chunked, "A rank takes p micro-batches through one chunk, then through the next."
            ),
            step="interleaved",
        ),
        replace(
            one_of_each("ZB-H1", _halved, "Backwards are halves: rank r runs a W when more than r of them are due."),
            step="ZB-H1",
        ),
    ),
    slips=(
        Slip(
            "The warm-up is one forward too long: every rank holds one micro-batch more.",
            edits=(
                ("else min(microbatches, ranks - 1 - rank)", "else min(microbatches, ranks - rank)"),
                (
                    "    warm_up = min(microbatches, ranks - 1 - rank)\n",
                    "    warm_up = min(microbatches, ranks - rank)\n",
                ),
                ("(chunks - 1) * ranks))", "(chunks - 1) * ranks + 1))"),
            ),
        ),
        Slip(
            "Every rank warms up like rank 0 and holds too much: the warm-up gets shorter from rank to rank.",
            edits=(
                ("else min(microbatches, ranks - 1 - rank)", "else min(microbatches, ranks - 1)"),
                ("    warm_up = min(microbatches, ranks - 1 - rank)\n", "    warm_up = min(microbatches, ranks - 1)\n"),
                ("2 * (ranks - 1 - rank)", "2 * (ranks - 1)"),
            ),
        ),
        Slip(
            "The last backwards are missing: some are still due after the forwards run out.",
            edits=(
                ("append(_in_turn(", 'append(forwards + backwards if name == "gpipe" else _in_turn('),
                ("return order + list(second[len(first) - warm_up :])", "return order"),
                (
                    "_in_turn(inputs[microbatches - warm_up :], weights[done:], 0)",
                    "weights[done : microbatches - warm_up]",
                ),
            ),
        ),
        Slip(
            "The backwards of the chunks are in forward order: the gradient comes from the last chunk.",
            edit=("(chunks - 1 - chunk) * ranks", "chunk * ranks"),
        ),
        Slip(
            "With neighboring chunks on one rank the pipeline only gets longer: rank r holds r, r + p, r + 2p, ...",
            edits=(
                ("k % (ranks * chunks) // ranks, k // (ranks * chunks) * ranks + k % ranks", "k % chunks, k // chunks"),
                ("rank + chunk * ranks}", "rank * chunks + chunk}"),
                ("rank + (chunks - 1 - chunk) * ranks}", "rank * chunks + chunks - 1 - chunk}"),
                (
                    "_in_turn(forwards, backwards, min(len(forwards), 2 * (ranks - 1 - rank) + (chunks - 1) * ranks))",
                    "[\n"
                    "        one\n"
                    "        for turn in _in_turn(\n"
                    "            [forwards[k : k + chunks] for k in range(0, len(forwards), chunks)],\n"
                    "            [backwards[k : k + chunks] for k in range(0, len(backwards), chunks)],\n"
                    "            min(microbatches, ranks - 1 - rank),\n"
                    "        )\n"
                    "        for one in turn\n"
                    "    ]",
                ),
            ),
        ),
    ),
    rights=(
        Right("backward whenever as many are held as may be", program=orders_by_playing),
        Right("GPipe's backwards from the last to the first", program=gpipe_last_in_first_out),
    ),
    promises=(
        Promise(
            "then the remaining W's", edit=("weights[done:], 0)", "weights[done : len(inputs) - warm_up // 2], 0)")
        ),
        Promise(
            "a W when more than r micro-batches wait for theirs",
            edit=("if number + 1 - done > rank:", "if number + 1 - done > rank + 1:"),
        ),
        Promise(
            "rank r holds stages r, r + p, r + 2p, ...",
            edits=(
                ('forwards.append(f"{rank + chunk * ranks}F', 'forwards.append(f"{rank * chunks + chunk}F'),
                (
                    'backwards.append(f"{rank + (chunks - 1 - chunk) * ranks}B',
                    'backwards.append(f"{rank * chunks + chunks - 1 - chunk}B',
                ),
            ),
        ),
    ),
)

"""Pipeline schedules as lists of operations: their notation, the rules for a valid order, and their event logs.

An operation is a string: stage, kind, micro-batch. Kinds are ``F`` (forward), ``B`` (full backward), ``I`` (gradient of
the input, the half of the backward pass that the previous stage waits for) and ``W`` (gradient of the weights, the half
that no other stage waits for). This is the notation of ``torch.distributed.pipelining``.

>>> parse_op("2F5")
(2, 'F', 5)
>>> validate([["0F0", "0B0"], ["1F0", "1B0"]])

Standard library only; :func:`rankzero.figures.schedules.draw` draws one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from rankzero.events import Event

#: The kind of an operation.
Kind = Literal["F", "B", "I", "W"]

#: The name of each kind of operation in an event log.
NAMES: dict[Kind, str] = {"F": "forward", "B": "backward", "I": "input gradient", "W": "weight gradient"}

#: Start and end of every operation, in seconds, as ``simulate_schedule`` returns them.
Times = Mapping[str, tuple[float, float]]

_OP = re.compile(r"(0|[1-9][0-9]*)([FBIW])(0|[1-9][0-9]*)")


def parse_op(op: str) -> tuple[int, Kind, int]:
    """``(stage, kind, microbatch)`` of an operation: ``"2F5"`` is the forward pass of micro-batch 5 on stage 2.

    Raises:
        ValueError: ``op`` is not an operation in this notation.
    """
    match = _OP.fullmatch(op) if isinstance(op, str) else None
    if not match:
        raise ValueError(f"an operation must be a stage, one of F, B, I, W, and a micro-batch, such as 2F5, got {op!r}")
    return int(match[1]), cast("Kind", match[2]), int(match[3])


def validate(orders: Sequence[Sequence[str]]) -> None:
    """Check that ``orders``, one list per rank in the order of execution, can be a schedule of one training step.

    Every stage belongs to one rank. Every stage runs, once for every micro-batch, F and B, or F, I and W; without any
    backward pass, every stage runs only F. On its rank, a backward pass comes after its forward pass, and W after its
    I. Deadlocks between ranks are not detected here but by ``simulate_schedule``.

    Raises:
        ValueError: a rule is broken; the message names the operation.
    """
    place: dict[str, tuple[int, int]] = {}
    homes: dict[int, int] = {}
    ops = [(rank, index, op) for rank, order in enumerate(orders) for index, op in enumerate(order)]
    for rank, index, op in ops:
        if op in place:
            raise ValueError(f"every operation must occur only once, got {op} twice")
        stage = parse_op(op)[0]
        if homes.setdefault(stage, rank) != rank:
            raise ValueError(f"a stage must be on one rank, got {op} on rank {rank} and stage {stage} on another")
        place[op] = (rank, index)
    stages = 1 + max(homes, default=-1)
    microbatches = 1 + max((parse_op(op)[2] for op in place), default=-1)
    trained = any(parse_op(op)[1] != "F" for op in place)
    for stage in range(stages):
        for microbatch in range(microbatches):
            _check_chain(place, _chain(place, stage, microbatch, trained))


def _chain(place: Mapping[str, Any], stage: int, microbatch: int, trained: bool) -> list[str]:
    """The operations that one stage has to run for one micro-batch, in order."""
    halves = any(f"{stage}{kind}{microbatch}" in place for kind in "IW")
    if halves and f"{stage}B{microbatch}" in place:
        raise ValueError(f"a backward pass must be either whole or split, got {stage}B{microbatch} and a half of it")
    kinds = ("FIW" if halves else "FB") if trained else "F"
    return [f"{stage}{kind}{microbatch}" for kind in kinds]


def _check_chain(place: Mapping[str, tuple[int, int]], chain: Sequence[str]) -> None:
    for op in chain:
        if op not in place:
            raise ValueError(f"every stage must run every micro-batch, but {op} is missing")
    for earlier, later in itertools.pairwise(chain):
        if place[later] < place[earlier]:
            raise ValueError(f"{later} must come after {earlier}")


def stages_of(times: Times) -> int:
    """The number of stages of a simulated schedule."""
    return 1 + max((parse_op(op)[0] for op in times), default=-1)


def to_events(times: Times, ranks: int | None = None) -> list[Event]:
    """A simulated schedule as an event log, so that whatever draws or counts the events of a run works for it too.

    Args:
        times: start and end of every operation, seconds.
        ranks: number of ranks; stage s runs on rank ``s mod ranks``. None gives every stage a rank of its own.
    """
    ranks = ranks or max(1, stages_of(times))
    events = []
    for op, (start, end) in times.items():
        stage, kind, _ = parse_op(op)
        events.append(Event(stage % ranks, NAMES[kind], (), 0, 0, start, end, where=op))
    return sorted(events, key=lambda event: (event.rank, event.start, event.end))

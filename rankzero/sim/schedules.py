"""Pipeline schedules as lists of operations: how one is written, which orders are legal, and how one is drawn.

An operation is a string: stage, kind, micro-batch. Kinds are ``F`` (forward), ``B`` (full backward), ``I`` (gradient of
the input, the half of the backward that the stage before waits for) and ``W`` (gradient of the weights, the half that
nobody waits for). It is the notation of ``torch.distributed.pipelining``.

>>> parse_op("2F5")
(2, 'F', 5)
>>> validate([["0F0", "0B0"], ["1F0", "1B0"]])

Standard library only; :func:`draw` loads Matplotlib when it is called.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rankzero.events import Event

#: What an operation is called in an event log.
NAMES = {"F": "forward", "B": "backward", "I": "input gradient", "W": "weight gradient"}

#: Start and end of every operation, seconds: what ``simulate_schedule`` returns.
Times = Mapping[str, tuple[float, float]]

_OP = re.compile(r"(0|[1-9][0-9]*)([FBIW])(0|[1-9][0-9]*)")


def parse_op(op: str) -> tuple[int, str, int]:
    """``(stage, kind, microbatch)`` of an operation: ``"2F5"`` is the forward of micro-batch 5 on stage 2.

    Raises:
        ValueError: it is not written so.
    """
    found = _OP.fullmatch(op) if isinstance(op, str) else None
    if not found:
        raise ValueError(f"an operation must be a stage, one of F, B, I, W, and a micro-batch, as 2F5, got {op!r}")
    return int(found[1]), found[2], int(found[3])


def validate(orders: Sequence[Sequence[str]]) -> None:
    """Check that ``orders``, one list per rank in the order of execution, can be a schedule of one training step.

    Every stage stands on one rank. Every stage runs, for every micro-batch and once each, F and B, or F, I and W; or
    every one runs F alone. On its rank a backward comes after its forward, and W after its I. Whether ranks then wait
    for one another in a circle is for ``simulate_schedule`` to say.

    Raises:
        ValueError: a rule is broken; the message names the operation.
    """
    place: dict[str, tuple[int, int]] = {}
    homes: dict[int, int] = {}
    ops = [(rank, index, op) for rank, order in enumerate(orders) for index, op in enumerate(order)]
    for rank, index, op in ops:
        if op in place:
            raise ValueError(f"every operation must stand once, got {op} twice")
        stage = parse_op(op)[0]
        if homes.setdefault(stage, rank) != rank:
            raise ValueError(f"a stage must stand on one rank, got {op} on rank {rank} and stage {stage} on another")
        place[op] = (rank, index)
    stages = 1 + max(homes, default=-1)
    microbatches = 1 + max((parse_op(op)[2] for op in place), default=-1)
    trained = any(parse_op(op)[1] != "F" for op in place)
    for stage in range(stages):
        for microbatch in range(microbatches):
            _check_chain(place, _chain(place, stage, microbatch, trained))


def _chain(place: Mapping[str, Any], stage: int, microbatch: int, trained: bool) -> list[str]:
    """The operations that one stage has to run for one micro-batch, in their order."""
    halves = any(f"{stage}{kind}{microbatch}" in place for kind in "IW")
    if halves and f"{stage}B{microbatch}" in place:
        raise ValueError(f"a backward must be whole or in halves, got {stage}B{microbatch} and a half of it")
    kinds = ("FIW" if halves else "FB") if trained else "F"
    return [f"{stage}{kind}{microbatch}" for kind in kinds]


def _check_chain(place: Mapping[str, tuple[int, int]], chain: Sequence[str]) -> None:
    for op in chain:
        if op not in place:
            raise ValueError(f"every stage must run every micro-batch, {op} is missing")
    for earlier, later in itertools.pairwise(chain):
        if place[later] < place[earlier]:
            raise ValueError(f"{later} must come after {earlier}")


def stages_of(times: Times) -> int:
    """How many stages a simulated schedule has."""
    return 1 + max((parse_op(op)[0] for op in times), default=-1)


def to_events(times: Times, ranks: int | None = None) -> list[Event]:
    """A simulated schedule as an event log, so that every figure and count of a run applies to it.

    Args:
        times: start and end of every operation, seconds.
        ranks: stage s stands on rank ``s mod ranks``; each on its own when left out.
    """
    ranks = ranks or max(1, stages_of(times))
    events = []
    for op, (start, end) in times.items():
        stage, kind, _ = parse_op(op)
        events.append(Event(stage % ranks, NAMES[kind], (), 0, 0, start, end, where=op))
    return sorted(events, key=lambda event: (event.rank, event.start, event.end))


def draw(times: Times | Mapping[str, Times], ranks: int | None = None, unit: str = "units of time") -> Any:
    """A chart of a simulated schedule: a row for each rank, a bar with its micro-batch for each operation.

    Args:
        times: start and end of every operation; or several schedules by name, drawn one above another on one axis.
        ranks: stage s stands on rank ``s mod ranks``; each on its own when left out. Later chunks of a rank are darker.
        unit: of the times, for the axis.

    Returns:
        A :class:`~rankzero.picture.Picture`.
    """
    figures = importlib.import_module("rankzero.schedule_figures")  # by name: explorers run without Matplotlib
    return figures.schedules(times, ranks, unit)

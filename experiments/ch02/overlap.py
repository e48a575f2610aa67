"""A message that arrives while its receiver computes, and one that waits until the receiver has finished computing.

>>> runs = overlap()  # doctest: +SKIP
>>> figures.spacetime(runs["posted first"])  # doctest: +SKIP

Computing is not an operation of a process group, so the event log does not contain it. Each rank keeps it in a
:class:`Diary`, and :func:`with_diaries` puts both on one clock.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.events import Event
from rankzero.facts.units import MiB

Span = tuple[str, float, float]  # what was done, its start and its end, on the machine's clock


class Diary:
    """What one rank computed, and when. The clocks of all diaries start together, after a barrier.

    Attributes:
        opened: when the barrier ended, on the machine's clock.
        spans: what was computed since then.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []
        dist.barrier()
        self.opened = time.monotonic()

    @contextlib.contextmanager
    def entry(self, name: str) -> Iterator[None]:
        """Record the time that the ``with`` block takes under ``name``."""
        start = time.monotonic()
        yield
        self.spans.append((name, start, time.monotonic()))


@dataclass(frozen=True)
class Lap:
    """What was called between one barrier of all ranks and the next.

    Attributes:
        opened: by rank, when its barrier ended, in seconds since the start of the run.
        events: the messages of all ranks after that.
    """

    opened: tuple[float, ...]
    events: tuple[Event, ...]


def laps_of(events: Iterable[Event], ranks: int) -> list[Lap]:
    """The laps of a run whose ranks all call the same number of barriers; anything before the first is left out."""
    opened: list[list[float]] = [[] for _ in range(ranks)]
    rows: dict[int, list[Event]] = defaultdict(list)
    for event in events:  # each rank's events are in the order of its calls
        if event.operation == "barrier":
            opened[event.rank].append(event.end)
        else:
            rows[len(opened[event.rank])].append(event)
    return [Lap(ends, tuple(rows[number])) for number, ends in enumerate(zip(*opened, strict=True), 1)]


def with_diaries(laps: Sequence[Lap], diaries: Sequence[Sequence[Diary]]) -> list[tuple[Event, ...]]:
    """The messages and computations of each lap on one clock, which starts when the first rank opens its diary.

    The event log counts from the start of the run, the same instant for all ranks; the diaries use the machine's clock.
    The end of a barrier is in both: the event log records it first, and the rank's diary a moment later, when the rank
    continues. The shortest of these delays gives the offset between the two clocks.

    Args:
        laps: of the whole run.
        diaries: the diaries that the ranks opened in each lap, ``diaries[lap][rank]``.
    """
    pairs = list(zip(laps, diaries, strict=True))
    start = min(d.opened - end for lap, row in pairs for d, end in zip(row, lap.opened, strict=True))
    return [_merged(lap, row, start) for lap, row in pairs]


def _merged(lap: Lap, diaries: Sequence[Diary], start: float) -> tuple[Event, ...]:
    """One lap's events on the common clock; ``start`` is the start of the run on the diaries' clock."""
    zero = min(lap.opened)
    rows = list(lap.events)
    for rank, diary in enumerate(diaries):
        rows += [Event(rank, name, (), 0, 0, began - start, ended - start) for name, began, ended in diary.spans]
    moved = [replace(row, start=max(0.0, row.start - zero), end=max(0.0, row.end - zero)) for row in rows]
    return tuple(sorted(moved, key=lambda event: (event.rank, event.start)))


@dataclass(frozen=True)
class Timeline:
    """A piece of a run, for ``figures.spacetime``.

    Attributes:
        seconds: its duration.
        events: messages and computations, on a clock that starts with it.
    """

    seconds: float
    events: tuple[Event, ...]


def overlap(message_bytes: int = 16 * MiB, width: int = 512, products: int = 4, rounds: int = 5) -> dict[str, Timeline]:
    """Rank 0 sends; rank 1 multiplies matrices and posts its receive either before or after that.

    Args:
        message_bytes: size of the message, bytes; a multiple of 4.
        width: of the square matrices.
        products: how many rank 1 computes.
        rounds: how often each order is run.

    Returns:
        For each order, ``"posted first"`` and ``"posted after"``: the median time from the common start until the
        receiver has both the data and the product, and the events of the last round.
    """
    result = {}
    for name, first in (("posted first", True), ("posted after", False)):
        run = world.run(_receive_and_compute, message_bytes, width, products, rounds, first, ranks=2, backend="gloo")
        seconds = statistics.median(time for time, _ in run.values[1][1:])
        diaries = zip(*([diary for _, diary in laps] for laps in run.values), strict=True)
        *_, events = with_diaries(laps_of(run.events, ranks=2), list(diaries))
        result[name] = Timeline(seconds, events)
    return result


def _receive_and_compute(
    message_bytes: int, width: int, products: int, rounds: int, first: bool
) -> list[tuple[float, Diary]]:
    """Seconds and diary of each round; the first round is a warm-up."""
    matrix, buffer = torch.ones(width, width), torch.zeros(message_bytes // 4)
    laps = []
    for _ in range(rounds + 1):
        diary = Diary()
        if dist.get_rank() == 0:
            dist.send(buffer, 1)
        elif first:
            handle = cast("dist.Work", dist.irecv(buffer, 0))
            _multiply(matrix, products, diary)
            handle.wait()
        else:
            _multiply(matrix, products, diary)
            handle = cast("dist.Work", dist.irecv(buffer, 0))
            handle.wait()
        laps.append((time.monotonic() - diary.opened, diary))
    return laps


def _multiply(matrix: torch.Tensor, products: int, diary: Diary) -> None:
    with diary.entry("matrix product"):
        for _ in range(products):
            matrix @ matrix

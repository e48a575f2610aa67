"""Threads and processes, and a meeting of processes, step by step: what their steppers draw. Standard library only.

>>> turns(shared=True)[:3], turns(shared=False)[:3]
([(1, 0), (1, 1), (2, 1)], [(1, 1), (2, 2), (3, 3)])
>>> meeting((0, 2, 1))[-1].told
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero import checks
from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.explore.scene import Tone

#: Units of Python that each worker has to execute.
UNITS = 3
#: Layout, pixels: the column of names, the width and height of a unit, and the distance between rows.
LEFT, CELL, HIGH, DOWN = 58, 32, 20, 24
#: Moments that pass with each step of the picture.
PACE = 3
#: Sizes of text: in boxes, and beside them.
TEXT, SMALL = 11, 10

Mark = Box | Arrow | Label


# One lock, or one for each


def turns(shared: bool, workers: int = 2, units: int = UNITS) -> list[tuple[int, ...]]:
    """The units that each worker has done after each moment. Only who holds an interpreter's lock executes a unit.

    Args:
        shared: whether the workers are threads, which share one interpreter; otherwise each has its own.
        workers: how many.
        units: of each.
    """
    done, history, turn = [0] * workers, [], 0
    while min(done) < units:
        holders = [turn % workers] if shared else range(workers)
        for worker in holders:
            done[worker] += 1
        turn += 1
        history.append(tuple(done))
    return history


def lock_scene(step: int) -> Scene:
    """The picture after ``PACE`` moments per step: a row is a worker, a column a moment, a box a unit of Python."""
    threads, processes = turns(True), turns(False)
    moments = len(threads)
    marks: list[Mark] = [
        Label(LEFT + CELL * m + CELL / 2, 10, f"{m + 1}", size=SMALL, quiet=True) for m in range(moments)
    ]
    y = 16
    for name, history in (("thread", threads), ("process", processes)):
        for worker in range(2):
            marks.append(Label(4, y + 14, f"{name} {worker}", "start", SMALL, True))
            marks += _row(history[: PACE * step], worker, y, "accent" if name == "thread" else "right")
            y += DOWN
        y += 6
    return Scene(LEFT + CELL * moments + 4, y - 4, tuple(marks), _locked(step), _lock_alt(step))


def _row(history: Sequence[tuple[int, ...]], worker: int, y: float, tone: Tone) -> list[Box]:
    boxes, before = [], 0
    for moment, done in enumerate(history):
        x = LEFT + CELL * moment
        if done[worker] > before:
            boxes.append(Box(x + 1, y, CELL - 2, HIGH, "run", "", tone, 0.8, False, SMALL))
        elif before < UNITS:
            boxes.append(Box(x + 1, y, CELL - 2, HIGH, "wait", "", "quiet", 0.0, False, SMALL))
        before = done[worker]
    ahead = range(len(history), UNITS if tone == "right" else 2 * UNITS)
    return [*boxes, *(Box(LEFT + CELL * moment + 1, y, CELL - 2, HIGH) for moment in ahead)]


def _locked(step: int) -> str:
    threads, processes = turns(True), turns(False)
    if step == 0:
        return f"Start. Each of the four workers has {UNITS} units of Python to execute."
    if step == 1:
        return (
            f"After {PACE} moments. The threads share one lock: in each moment one holds it, and the other waits. "
            "The processes have a lock each and are done."
        )
    counts = f"They took {len(threads)} moments, and the processes {len(processes)}."
    return f"After {PACE * step} moments the threads are done as well. {counts}"


def _lock_alt(step: int) -> str:
    threads = turns(True)[PACE * step - 1] if step else (0, 0)
    processes = turns(False)[min(PACE * step, UNITS) - 1] if step else (0, 0)
    return f"Units done: threads {threads[0]} and {threads[1]}, processes {processes[0]} and {processes[1]}."


# A meeting at a store


@dataclass(frozen=True)
class Meeting:
    """What is written at the meeting place after an arrival.

    Attributes:
        come: the ranks that have connected to the store, in the order in which they came.
        written: the ranks that have written their address. Rank 0 writes when all have connected.
        told: whether all have read the others' addresses.
    """

    come: tuple[int, ...]
    written: tuple[int, ...] = ()
    told: bool = False


def meeting(order: Sequence[int] = (0, 2, 1)) -> list[Meeting]:
    """The start, the state after each arrival, and the end, when everyone has read.

    Rank 0 has to come first: the store is part of its process, and nobody can write before it is open. It writes last,
    because it waits until all have connected; the others write as soon as they have.
    """
    checks.require(order[0] == 0, "begin with rank 0, which opens the store", order=order)
    states = [Meeting(tuple(order[:count]), tuple(order[1:count])) for count in range(len(order))]
    everyone = (*order[1:], order[0])
    return [*states, Meeting(tuple(order), everyone), Meeting(tuple(order), everyone, told=True)]


def meeting_scene(step: int, order: Sequence[int] = (0, 2, 1)) -> Scene:
    """The picture after one arrival and ``step`` further steps: the processes on the left, the store on the right."""
    states = meeting(order)
    state, ranks = states[step + 1], len(order)
    new = () if state.told else tuple(rank for rank in state.written if rank not in states[step].written)
    marks: list[Mark] = [
        Label(49, 11, "processes", size=SMALL, quiet=True),
        Label(207, 11, "the store, in rank 0", size=SMALL, quiet=True),
    ]
    for rank in range(ranks):
        y = 17 + 34 * rank
        come, written = rank in state.come, rank in state.written
        arrives = not state.told and rank == state.come[-1]
        note = "has joined" if state.told else "waits" if come else "not here yet"
        marks.append(Box(4, y, 90, 29, f"rank {rank}", note, "accent", 0.6 * come, arrives, TEXT))
        entry = f"{rank}: 10.0.0.{rank + 1}" if written else ""
        marks.append(Box(160, y, 94, 29, entry, "", "right", 0.6 * written, state.told or rank in new, TEXT))
        if rank in new:
            marks.append(Arrow(96, y + 14, 157, y + 14))
        elif state.told:
            marks.append(Arrow(158, y + 14, 97, y + 14))
    return Scene(258, 17 + 34 * (ranks - 1) + 33, tuple(marks), _meets(state, ranks), _meeting_alt(state, ranks))


def _meets(state: Meeting, ranks: int) -> str:
    if state.told:
        return "Everyone reads the others' addresses. init_process_group returns, on all ranks."
    last = state.come[-1]
    missing = ranks - len(state.come)
    if last == 0:
        return f"Rank 0 opens the store and waits until all {ranks} processes have connected. {missing} are missing."
    writes = f"Rank {last} connects and writes where it can be reached."
    if missing:
        return f"{writes} {missing} still missing, so init_process_group does not return."
    return f"{writes} Nobody is missing, so rank 0 writes its own address too."


def _meeting_alt(state: Meeting, ranks: int) -> str:
    written = ", ".join(map(str, sorted(state.written))) or "none"
    return f"In the store: ranks {written} of {ranks}; {'all have read it' if state.told else 'not all have read it'}."

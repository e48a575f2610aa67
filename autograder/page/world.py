"""``rankzero.world`` in a page: the ranks are web workers, and the grader's own broker carries their messages.

The results and the words are those of a real world. Two things differ. A deadlock is told at once, as the broker sees
that nobody can go on; and nothing says how long anything took, because a message between workers costs what JSON and
Python in a browser cost, and no link.
"""

from __future__ import annotations

import functools
import pickle
import time
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.learner.in_page import Printed
from autograder.marking.outcome import Outcome
from autograder.page.workers import Worker, Workers
from autograder.running import broker
from autograder.running.deadlines import Deadline
from autograder.running.messages import Message
from autograder.running.operations import MAX_BYTES, Operation
from autograder.running.transport import Child
from rankzero.events import Event, Ledger
from rankzero.world import results, serialization
from rankzero.world.job import Backend, Ending, RankOutcome, RankReport
from rankzero.world.reports import Report, WorldError, explain, returned
from rankzero.world.results import MOST_RANKS

__all__ = ["MOST_RANKS", "Report", "World", "WorldError", "prepare", "run"]

#: Seconds that the ranks may compute without calling an operation, whatever the caller allows.
QUIET = 10.0
#: Seconds in which workers start, also those that replace others.
STARTING = 180.0
#: Seconds that a rank may take to say where it computes, before it is ended.
LOCATING = 0.5
ELSEWHERE = "run it in Colab or on your machine"
UNTIMED = "The page has no real time: measure this in Colab or on your machine"


class _Untimed:
    """An attribute that would be a time: it refuses to be read."""

    def __get__(self, owner: object, kind: type) -> Any:
        if owner is None:
            return self
        raise RuntimeError(UNTIMED)

    def __set__(self, owner: object, value: object) -> None:
        pass


class PageEvent(Event):
    """An event of a rank in the page, which has a place in the order of its rank, and no time."""

    start = _Untimed()
    end = _Untimed()

    @property
    def _facts(self) -> tuple[Any, ...]:
        return (self.rank, self.operation, self.peers, self.sent, self.received, self.root, self.where)

    def __repr__(self) -> str:
        names = ("rank", "operation", "peers", "sent", "received", "root", "where")
        return f"Event({', '.join(f'{name}={value!r}' for name, value in zip(names, self._facts, strict=True))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PageEvent) and self._facts == other._facts

    def __hash__(self) -> int:
        return hash(self._facts)


class World(results.World):
    """The results of a run in the page, which has no time."""

    seconds = _Untimed()

    def __repr__(self) -> str:
        return f"World(values={self.values!r}, lines={self.lines!r}, ranks={self.ranks})"


class _Run(broker.Broker):
    """One run of a cell's function, carried out by the grader's broker.

    The time limit is that of ranks that compute: it begins anew whenever one of them calls an operation, but not when
    it asks whether one is done.
    """

    def __init__(self, workers: Workers, crew: Sequence[Worker], seconds: float) -> None:
        super().__init__(workers, crew, seconds, _refused, _line)
        self.workers, self.crew = workers, crew
        self.steps: dict[tuple[int, int], int] = {}  # rank and number of its call -> when it was carried out
        self.rounds = 0
        self.left: dict[int, int] = {}  # rank -> the round in which its function ended
        self.reports: dict[int, RankReport] = {}
        self.places: dict[int, list[int]] = {}  # rank -> the event to which each of its operations belongs

    def _hear(self, rank: int, message: Message | None) -> None:
        kind = message.get("kind") if message else None
        if kind != "poll":
            self.deadline = Deadline((), self.deadline.seconds)
        if kind == "leave":
            self.left[rank] = self.rounds
        if message and kind == "post":
            self._check_post(rank, message)
        super()._hear(rank, message)

    def _check_post(self, rank: int, message: Message) -> None:
        """Say which limit a call is beyond; the grader only ends a rank that goes there."""
        if message["handle"] == broker.MAX_OPERATIONS:
            most = f"{broker.MAX_OPERATIONS:,}"
            raise broker.Ended(Outcome("refused", detail=f"rank {rank} calls more than {most} operations"))
        if max(sum(message["gives"]), *message["takes"], 0) > MAX_BYTES:
            where = f" at line {message['line']}" if message["line"] else ""
            called = message["called"] or message["operation"]
            raise broker.Ended(_beyond(f"rank {rank} calls {called}(){where} with", MAX_BYTES))

    def _take(self, operation: Operation) -> list[bytes]:
        if self.traffic + sum(operation.gives) > broker.MAX_TRAFFIC:
            raise broker.Ended(_beyond("in one run the ranks send", broker.MAX_TRAFFIC))
        return super()._take(operation)

    def _match(self) -> bool:
        self.rounds += 1
        return super()._match()

    def _record(self, operation: Operation, peers: tuple[int, ...], sent: int, received: int) -> None:
        self.steps[operation.rank, operation.handle] = self.rounds
        super()._record(operation, peers, sent, received)

    def _check_leftovers(self) -> None:
        """A real world ends without a word about these."""

    def _late(self, running: Sequence[int]) -> Outcome:
        """End the ranks that compute; those that wait, or ask again and again, can still say in what."""
        computing = [rank for rank in running if not self.waits[rank]]
        self.workers.locate([self.crew[rank] for rank in computing], LOCATING)
        return super()._late([rank for rank in computing if not self.crew[rank].speaks])

    def found(self) -> list[RankOutcome]:
        """What became of each rank, as a supervisor of real processes would say it."""
        return [self._found(rank, child.outcome) for rank, child in enumerate(self.crew)]

    def _found(self, rank: int, outcome: RankOutcome) -> RankOutcome:
        reply = self.replies[rank]
        if reply is not None and reply.get("kind") == "raised":
            raise WorldError(f"rank {rank} could not run its function: {reply.get('error')}: {reply.get('text')}")
        if reply is not None and reply.get("kind") == "report":
            self.reports[rank] = report = pickle.loads(a2b_base64(reply["report"]))
            self.places[rank] = reply["places"]
            report.time = float(self.left.get(rank, self.rounds))
            outcome.waiting, outcome.stack = str(reply["waiting"]), str(reply["stack"])
            outcome.report = None if outcome.waiting or outcome.stack else report
        return outcome


def _beyond(what: str, most: int) -> Outcome:
    """The outcome of what a page cannot carry, as it is larger than ``most`` bytes."""
    return Outcome("refused", detail=f"{what} more than {most >> 20} MiB, which a page does not carry: {ELSEWHERE}")


def _refused(child: Child, reply: Message) -> Outcome:
    """Whether the value of a rank was too large to send; the rest of its final reply is read when the run is over."""
    return _beyond(f"rank {reply['rank']} returns", MAX_BYTES) if reply.get("large") else Outcome("value")


def _line(unit: Any, line: Any) -> int | None:
    """The reader's line, as the rank says it."""
    return line if type(line) is int else None


@dataclass(frozen=True)
class Last:
    """What the page's script shows of the last run: plain data for JSON.

    Attributes:
        ranks: how many there were.
        events: the fields of each :class:`rankzero.events.Event`, by rank and then in the order of the calls; in place
            of times, None for the start, and for the end the step of the broker in which the operation was carried out,
            the same for all that took part, or None if it never was.
        ledger: the ledger as text.
        printed: the lines that each rank printed.
        error: what is said when the run failed.
    """

    ranks: int
    events: list[list[Any]]
    ledger: str
    printed: list[list[str]]
    error: str = ""


def _nothing(*_: object) -> None:
    """Nobody listens."""


class _Cell:
    """The cell that is being run: what its worlds run on, one at a time, and who is told what they do."""

    workers: Workers

    def __init__(self) -> None:
        self.crew: list[Worker] = []
        self.last: Last | None = None

    def begin(
        self,
        workers: Workers,
        ranks: int | None = None,
        playing: Callable[[bool], Any] = _nothing,
        say: Callable[[str, int], Any] = _nothing,
    ) -> None:
        """Before a cell: forget what the one before did.

        Args:
            workers: those on which the ranks run.
            ranks: the number of ranks that the reader has chosen, if any.
            playing: called with True when ranks begin to run, and with False when they have ended.
            say: called with each line that a rank prints, and its rank.
        """
        self.last = None
        self.workers, self.ranks, self.playing, self.say = workers, ranks, playing, say

    def start(self, ranks: int) -> list[Worker]:
        """A worker for each rank, all of them up.

        Raises:
            WorldError: one does not start.
        """
        self.crew = [self.workers.start() for _ in range(ranks)]
        for rank, child in enumerate(self.crew):
            child.printed = Printed(functools.partial(self._say, rank)).write
            child.send(do="hello")
        waiting: set[Child] = {*self.crew}
        until = time.monotonic() + STARTING
        while waiting:
            greeted = self.workers.exchange(waiting, until)
            if not greeted or not all(message for _, message in greeted):
                raise WorldError("the ranks of this page do not start: load the page again")
            waiting -= {child for child, _ in greeted}
        return self.crew

    def _say(self, rank: int, line: str) -> None:
        self.say(line, rank)

    def release(self) -> None:
        """Give back the workers."""
        for child in self.crew:
            child.kill()
        self.crew = []


CELL = _Cell()


def prepare(*modules: str) -> None:
    """Nothing has to be prepared: the workers start when a cell is run."""


def run(
    fn: Callable[..., Any],
    *args: Any,
    ranks: int = 4,
    timeout: float = 60.0,
    backend: Backend | None = "gloo",
    withheld: int | None = None,
) -> World:
    """Run ``fn(*args)`` in ``ranks`` workers joined in one group, as :func:`rankzero.world.run` does in processes.

    Raises:
        ValueError: an argument is outside its range, or asks for what a page does not have.
        TypeError: ``fn`` cannot take ``args``, or uses something that cannot be sent to a worker.
        WorldError: a rank raised or died, or the ranks cannot go on.
    """
    ranks = CELL.ranks or ranks
    results.check(fn, ranks, timeout, backend, withheld)
    results.check_call(fn, args)
    _refuse(ranks, backend)
    if withheld is not None:
        raise _kept(_incomplete(ranks, withheld), ranks)
    call = b2a_base64(serialization.pack_call(fn, args), newline=False).decode()
    CELL.playing(True)
    try:
        crew = CELL.start(ranks)
        for rank, worker in enumerate(crew):
            worker.send(do="run", call=call, rank=rank, ranks=ranks)
        world = _Run(CELL.workers, crew, min(timeout, QUIET))
        ended = world.run()
        for worker in crew:
            worker.ids.clear()  # all that live have replied, and stay
        return _told(world, ended, ranks)
    finally:
        CELL.release()
        CELL.playing(False)


def _refuse(ranks: int, backend: str | None) -> None:
    if backend == "nccl":
        raise ValueError(f"backend nccl needs a GPU for each rank, got ranks={ranks} and 0 GPUs")
    places = CELL.workers.places
    if ranks > places:
        raise ValueError(f"this page starts at most {places} ranks, got ranks={ranks}: {ELSEWHERE}")


def _incomplete(ranks: int, withheld: int) -> WorldError:
    """The error when a rank is never started: the others meet and wait for it."""
    meeting = RankOutcome(waiting="!init_process_group")
    found = [RankOutcome(absent=True) if rank == withheld else meeting for rank in range(ranks)]
    return explain("not joined", found, None)


def _told(world: _Run, ended: Outcome, ranks: int) -> World:
    """The results of a run that came to its end.

    Raises:
        WorldError: it did not.
    """
    found = world.found()
    lines = tuple(results.lines(one) for one in found)
    reports = [one.report for one in found if one.report is not None]
    events = [PageEvent(*row) for _, report in sorted(world.reports.items()) for row in report.events]
    failed = any(one.status is not None or (one.report and one.report.state != "finished") for one in found)
    done = all(one.report is not None for one in found)
    if done and not failed and ended.kind != "refused":
        _keep(world, lines, ranks)
        values = returned(reports, lines)
        return World(values, lines, tuple(events), ranks, 0.0)
    unfit = ended.kind == "died" or (ended.kind == "deadlock" and not ended.detail.startswith("deadlock:"))
    if (unfit and not failed) or ended.kind == "refused":
        error = WorldError(ended.detail, explain("timed out", found, None).reports, lines)
    elif failed:
        error = explain("failed", found, None, lines)
    else:
        ending: Ending = "stuck" if ended.kind == "deadlock" else "timed out"
        error = explain(ending, found, world.deadline.seconds if ended.kind == "timeout" else None, lines)
    _keep(world, lines, ranks, str(error))
    raise error


def _keep(world: _Run, lines: Sequence[Sequence[str]], ranks: int, error: str = "") -> None:
    """Note the last run for the page's script."""
    rows = [row for rank in sorted(world.reports) for row in _rows(world, rank)]
    events = [PageEvent(*row) for _, report in sorted(world.reports.items()) for row in report.events]
    CELL.last = Last(ranks, rows, str(Ledger(events, ranks)), [list(of_rank) for of_rank in lines], error)


def _rows(world: _Run, rank: int) -> list[list[Any]]:
    """The events of a rank, with the step in which each was carried out in place of its end."""
    ends: dict[int, int] = {}
    for handle, place in enumerate(world.places[rank]):
        if (rank, handle) in world.steps:
            ends[place] = max(ends.get(place, 0), world.steps[rank, handle])
    rows = enumerate(world.reports[rank].events)
    return [[*row[:2], list(row[2]), *row[3:5], None, ends.get(place), *row[7:]] for place, row in rows]


def _kept(error: WorldError, ranks: int) -> WorldError:
    """``error``, noted as that of the last run."""
    CELL.last = Last(ranks, [], str(Ledger((), ranks)), [[] for _ in range(ranks)], str(error))
    return error

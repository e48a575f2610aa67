"""In the broker's worker: the children of the page, each a web worker that is one rank, and the transport to them.

A port leads to the workers, which have places in it. A worker stays when the submission that used it is closed, and
serves the next one; it is ended, and a fresh one takes its place, when it did not answer or broke the rules. A line
from a worker is a message of the child, a JSON object, or begins with a sign: ``#`` what the rank printed, ``%`` how
many bytes more it printed, ``@`` where it is computing, ``!`` how it ended: with a status, or why.

A worker has memory of its own, no files and no other processes, and runs the reader's own code in the reader's own
browser: no walls are put up around it.
"""

from __future__ import annotations

import collections
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from autograder.marking.values import MAX_LINE
from autograder.running.messages import Message
from autograder.running.transport import Child
from autograder.starting import NotStarted, Package
from rankzero.world import results
from rankzero.world.job import OUTPUT_LIMIT, RankOutcome


class Port(Protocol):
    """The workers of the ranks, as JavaScript hands them over (``book/_static/ranks-worker.js``)."""

    places: int

    def put(self, place: int, line: str) -> None:
        """Send a line to a worker."""

    def next(self, milliseconds: float) -> str | None:
        """The next line from any worker, behind its place as one digit; None if none comes in time."""

    def end(self, place: int) -> None:
        """End a worker and start a fresh one in its place."""

    def interrupt(self, place: int) -> None:
        """Ask a worker that computes where it is."""


class Worker(Child):
    """One worker while a submission or a cell uses it."""

    def __init__(self, workers: Workers) -> None:
        super().__init__()
        self.workers = workers
        self.turn = next(workers.turns)  # when it was last sent something
        self.outcome = RankOutcome()  # what it printed, and where it is
        self.printed: Callable[[str], object] = lambda text: None  # is told what the rank prints
        self._said: collections.deque[str | None] = collections.deque()
        self.place = workers.take_place(self)

    def send(self, **message: object) -> None:
        """Send a request under a new id; what was printed before is forgotten."""
        self.outcome = RankOutcome()
        super().send(**message)

    def put(self, lines: Sequence[str]) -> None:
        """Send lines to the worker."""
        if self.alive:
            self.turn = next(self.workers.turns)
            for line in lines:
                self.workers.port.put(self.place, line)

    def take(self, line: str) -> None:
        """Note a line that the worker wrote."""
        sign, rest = line[:1], line[1:]
        if sign == "#":
            self._print(rest.encode(errors="replace"))
        elif sign == "%":
            self.outcome.dropped = int(rest)
        elif sign == "@":
            self.outcome.stack = rest
        elif sign == "!":
            self.outcome.cause = "" if rest.isdecimal() else rest
            self.outcome.status = 256 + int(rest) if rest.isdecimal() else 256 + 1
            self.end(self.outcome.cause or f"the process exited with status {self.outcome.status - 256}")
            self._said.append(None)
        else:
            self._said.append(line)

    def _print(self, data: bytes) -> None:
        kept = data[: max(0, OUTPUT_LIMIT - len(self.outcome.output))]
        self.outcome.output += kept
        self.printed(kept.decode(errors="replace"))

    @property
    def lines(self) -> tuple[str, ...]:
        """What its rank has printed since the last request."""
        return results.lines(self.outcome)

    @property
    def speaks(self) -> bool:
        """Whether there is something to :meth:`hear`."""
        return bool(self._said)

    def hear(self) -> Message | None:
        """The next message; None if the worker has ended or broke the rules, which ends it."""
        line = self._said.popleft()
        data = b"" if line is None else line.encode()
        if len(data) > MAX_LINE:
            self.end("it flooded the grader's channel")
        return None if line is None or len(data) > MAX_LINE else self.heard(data)

    def end(self, reason: str) -> None:
        """End the worker, even if it waits for a request: whoever speaks without being asked is not idle."""
        self.ids = self.ids or collections.deque([""])
        super().end(reason)

    def kill(self) -> None:
        """Give back the worker, which is ended unless it is idle."""
        if self.alive:
            self.alive = False
            self.workers.leave(self)


class Workers:
    """The transport of a page: who uses which worker."""

    def __init__(self, port: Port) -> None:
        self.port, self.places = port, port.places
        self.turns = itertools.count()
        self._users: list[Worker | None] = [None] * port.places

    def start(self, package: Package = "torch") -> Worker:
        """A free worker, or that of whoever has been idle longest; every one has the page's stand-in for torch.

        Raises:
            NotStarted: all of them are at work.
        """
        return Worker(self)

    def take_place(self, worker: Worker) -> int:
        """A place for a new user."""
        if None not in self._users:
            idle = [user for user in self._users if user and not user.ids]
            if not idle:
                raise NotStarted("no rank is free in this page")
            min(idle, key=lambda user: user.turn).kill()
        place = self._users.index(None)
        self._users[place] = worker
        return place

    def leave(self, worker: Worker) -> None:
        """Free the place of a user; its worker is ended unless it waits for a request."""
        self._users[worker.place] = None
        if worker.ids:
            self.port.end(worker.place)

    def exchange(self, children: Iterable[Child], deadline: float) -> list[tuple[Child, Message | None]]:
        """Listen until at least one child has replied or ended, or until ``deadline``."""
        living = [child for child in children if isinstance(child, Worker) and child.alive]
        while True:
            if replies := [(child, child.hear()) for child in living if child.speaks]:
                return [*replies]
            if not self._listen(deadline):
                return []

    def locate(self, workers: Iterable[Worker], seconds: float) -> None:
        """Have each worker that computes say where, in the form of :mod:`faulthandler`, unless that takes too long."""
        waiting = [worker for worker in workers if worker.alive]
        until = time.monotonic() + seconds
        for worker in waiting:
            self.port.interrupt(worker.place)
        while not all(worker.outcome.stack or not worker.alive for worker in waiting):
            if not self._listen(until):
                return

    def _listen(self, deadline: float) -> bool:
        """Take one line of a worker; False if none comes in time."""
        got = self.port.next(max(0.0, (deadline - time.monotonic()) * 1000))
        if got is None:
            return False
        user = self._users[int(got[0])]
        if user is not None:
            user.take(got[1:])
        return True

"""In the broker's worker, in place of :mod:`autograder.running.process`: a child is a web worker, its pipes are a port.

Each place of the port is the worker of one rank. A worker stays when the submission that used it is closed, and serves
the next one; it is ended, and a fresh one takes its place, when it did not answer or broke the rules. A line from a
worker is a message of the child, a JSON object, or begins with a sign: ``#`` what the rank printed, ``%`` how many
bytes more it printed, ``@`` where it is computing, ``!`` how it ended: with a status, or why.
"""

from __future__ import annotations

import collections
import itertools
import json
import secrets
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from autograder.marking.values import MAX_LINE, Malformed
from autograder.running.messages import Message, message_of
from autograder.sandbox.launch import SandboxFailed
from rankzero.world import results
from rankzero.world.job import OUTPUT_LIMIT, RankOutcome

#: What the grader's own module also offers; a page has no other processes.
ALIVE: set[Any] = set()
PR_SET_CHILD_SUBREAPER = 36


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


class _Hall:
    """Who uses which worker."""

    def __init__(self) -> None:
        self.port: Port | None = None
        self.users: list[Process | None] = []
        self.turns = itertools.count()

    def open(self, port: Port) -> None:
        """Use these workers from now on."""
        self.port = port
        self.users = [None] * port.places

    def enter(self, process: Process) -> int:
        """A place for a process: a free one, or that of whoever has been idle longest."""
        if None not in self.users:
            idle = [user for user in self.users if user and not user.ids]
            if not idle:
                raise SandboxFailed("no rank is free in this page")
            min(idle, key=lambda user: user.turn).kill()
        place = self.users.index(None)
        self.users[place] = process
        return place

    def leave(self, process: Process) -> None:
        """Free the place of a process; its worker is ended unless it waits for a request."""
        self.users[process.place] = None
        if process.ids and self.port:
            self.port.end(process.place)

    def listen(self, milliseconds: float) -> bool:
        """Take one line of a worker; False if none comes in time."""
        assert self.port is not None
        got = self.port.next(milliseconds)
        if got is None:
            return False
        user = self.users[int(got[0])]
        if user is not None:
            user.take(got[1:])
        return True


HALL = _Hall()
use = HALL.open


class Process:
    """The user of one worker, with the face of the grader's process."""

    inside, walls, pid = True, {}, -1  # type: ignore[var-annotated]

    def __init__(self, launch: Any = None) -> None:
        self.ids: collections.deque[str] = collections.deque()
        self.alive, self.ready, self.ended = True, False, ""
        self.turn = next(HALL.turns)
        self.outcome = RankOutcome()  # what it printed, and where it is
        self.printed: Callable[[str], object] = lambda text: None  # is told what the rank prints
        self._heard: collections.deque[str | None] = collections.deque()
        self.place = HALL.enter(self)

    def enter(self) -> None:
        """There are no outer limits to set."""

    def send(self, **message: Any) -> None:
        """Send a request under a new id; earlier requests no longer count as in flight."""
        self.ids.clear()
        self.outcome = RankOutcome()
        self.queue(json.dumps(message))

    def queue(self, *requests: str) -> None:
        """Send requests, JSON objects, behind those in flight."""
        named = [(secrets.token_hex(8), request) for request in requests]
        self.ids.extend(identifier for identifier, _ in named)
        for identifier, request in named:
            self._put(identifier, request)

    def tell(self, **message: Any) -> None:
        """Send a message that belongs to the request in flight."""
        self._put(self.ids[0], json.dumps(message))

    def _put(self, identifier: str, request: str) -> None:
        if self.alive and HALL.port:
            self.turn = next(HALL.turns)
            HALL.port.put(self.place, f'{{"id": "{identifier}", {request[1:]}')

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
            self._end(self.outcome.cause or f"the process exited with status {self.outcome.status - 256}")
            self._heard.append(None)
        else:
            self._heard.append(line)

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
        return bool(self._heard)

    def hear(self) -> Message | None:
        """The next message; None if the worker has ended or broke the rules, which ends it."""
        line = self._heard.popleft()
        if line is None:
            return None
        reason = "it answered what was not asked"
        try:
            data = line.encode()
            message = message_of(data, self.ids[0]) if self.ids and len(data) <= MAX_LINE else None
        except Malformed:
            message, reason = None, "it wrote on the grader's channel"
        if message is None:
            self._end(reason)
        return message

    def _end(self, reason: str) -> None:
        self.ids = self.ids or collections.deque([""])  # whoever speaks without being asked is no longer idle
        self.kill()
        self.ended = reason

    def kill(self) -> None:
        """Give back the worker, which is ended unless it is idle."""
        if self.alive:
            self.alive = False
            HALL.leave(self)


def exchange(processes: Iterable[Process], deadline: float) -> list[tuple[Process, Message | None]]:
    """Listen until at least one process has replied or ended, or until ``deadline``.

    None stands for the reply of a process that has ended. An empty list means that the deadline has passed.
    """
    living = [process for process in processes if process.alive]
    while True:
        if replies := [(process, process.hear()) for process in living if process.speaks]:
            return replies
        if not HALL.listen(max(0.0, (deadline - time.monotonic()) * 1000)):
            return []


def locate(processes: Iterable[Process], seconds: float) -> None:
    """Have each process that computes say where, in the form of :mod:`faulthandler`, unless that takes too long."""
    waiting = [process for process in processes if process.alive]
    until = time.monotonic() + seconds
    for process in waiting:
        assert HALL.port is not None
        HALL.port.interrupt(process.place)
    while not all(process.outcome.stack or not process.alive for process in waiting):
        if not HALL.listen(max(0.0, (until - time.monotonic()) * 1000)):
            return


def become_subreaper() -> None:
    """A page has no other processes."""


def subreaping() -> bool:
    """A page has no other processes."""
    return False


def remove(folder: str) -> None:
    """A worker has no folder."""

"""One run's warden: forks the ranks, starts them together, keeps the time, gathers what they leave, buries them all.

Nothing that a rank does can hang a run, because the warden does not ask ranks to end: it kills. A rank that is done, or
that raised, stays where it is until every rank has been heard, so that its neighbours are found waiting for it and not
startled by a closed connection. On Linux the warden inherits every orphan of its ranks, so that a process which a rank
started, in whatever session, goes with them.

The warden measures; :mod:`rankzero.reports` puts it into words, in the caller's process.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import selectors
import shutil
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from rankzero import parcels, processes

OUTPUT_LIMIT = 2**20  # bytes of printed text kept for each rank
SLOT = 1024  # bytes in which a rank keeps what it waits for
STARTING = 120.0  # seconds that ranks may take to be born and to meet
GRACE = 0.2  # seconds in which the others may end too, once one has failed
LAST_WORDS = 1.0  # seconds that a rank may take to write down where it is


class Job(NamedTuple):
    """What the caller asks for: the packed call, and the surroundings in which it runs."""

    call: bytes
    ranks: int
    timeout: float
    backend: str | None
    folder: str
    path: list[str]
    arguments: list[str]
    environment: dict[str, str]
    withheld: int | None = None  # a rank that is not started


@dataclass
class Found:
    """What the warden knows of one rank when the run is over.

    Attributes:
        report: what the rank said itself when its function had returned or raised (see :mod:`rankzero.rank`), or None.
        waiting: the operation it was in, as :mod:`rankzero.calls` writes it.
        stack: what :mod:`faulthandler` wrote.
        status: of one that died by itself: the signal's number, or 256 plus the exit status.
        output: what it printed, the beginning.
        dropped: how many bytes it printed after that.
        absent: it was never started.
    """

    report: dict[str, Any] | None = None
    waiting: str = ""
    stack: str = ""
    status: int | None = None
    output: bytes = b""
    dropped: int = 0
    absent: bool = False


class Outcome(NamedTuple):
    """Why a run ended (``finished``, ``failed``, ``late``, ``unborn``), what was found, seconds to the last report."""

    why: str
    ranks: list[Found]
    seconds: float


@dataclass
class _Child:
    """A rank, seen by its warden."""

    rank: int
    pid: int
    line: socket.socket
    output: int
    stack: BinaryIO
    found: Found = field(default_factory=Found)
    inbox: bytearray = field(default_factory=bytearray)
    ready: bool = False
    buried: bool = False

    @property
    def silent(self) -> bool:
        """Nothing more will be heard of it: it has reported, or it is dead."""
        return self.found.report is not None or self.found.status is not None

    @property
    def failed(self) -> bool:
        """It raised, or died before it could report."""
        return self.silent and (self.found.report is None or self.found.report["state"] != "finished")


def serve(caller: socket.socket) -> None:
    """The life of a warden: one job, one answer, nobody left behind."""
    os.setsid()
    processes.adopt_orphans()
    job = Job(*parcels.receive(caller))
    run = _Run(job, caller, Path(tempfile.mkdtemp(prefix="rankzero-")))
    try:
        outcome = run.watch()
    finally:
        run.bury()
    with contextlib.suppress(OSError):
        parcels.send(caller, tuple(outcome))


class _Run:
    """The processes of one run and the clock over them."""

    def __init__(self, job: Job, caller: socket.socket, folder: Path) -> None:
        self.job, self.caller, self.folder = job, caller, folder
        self.slots = mmap.mmap(-1, SLOT * job.ranks)  # shared with the ranks
        self.children: list[_Child] = []
        self.start = 0.0
        self.selector = selectors.DefaultSelector()
        self.ear, self.mouth = socket.socketpair()  # hears of deaths
        for end in (self.ear, self.mouth):
            end.setblocking(False)
        signal.set_wakeup_fd(self.mouth.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._listen(self.ear, self._collect_dead)
        self._listen(caller, self._abandon)

    def watch(self) -> Outcome:
        """Start every rank, wait for the end, whichever it is, and say what was found."""
        whole = self.job.withheld is None
        for rank in range(self.job.ranks):
            if rank != self.job.withheld:
                self._bear(rank)
        meeting = STARTING if whole else self.job.timeout
        if not self._until(lambda: self._failed or (whole and all(child.ready for child in self.children)), meeting):
            return self._ended("unborn")
        self.start = time.monotonic()
        for child in self.children:
            with contextlib.suppress(OSError):
                child.line.send(struct.pack("!d", self.start))
        if not self._until(lambda: self._failed or self._silent, self.job.timeout):
            return self._ended("late")
        if self._failed:
            self._until(lambda: self._silent, GRACE)
            return self._ended("failed")
        return self._ended("finished")

    @property
    def _failed(self) -> bool:
        return any(child.failed for child in self.children)

    @property
    def _silent(self) -> bool:
        return all(child.silent for child in self.children)

    def _ended(self, why: str) -> Outcome:
        """Put down what each rank is doing, then end all of them and take what they printed."""
        for child in self.children:
            slot = self.slots[child.rank * SLOT : (child.rank + 1) * SLOT]
            child.found.waiting = slot.split(b"\0", 1)[0].decode(errors="replace")
        self._ask_where([child for child in self.children if not child.silent])
        self.bury()
        for child in self.children:
            while self._take_output(child):
                pass
            child.found.stack = os.pread(child.stack.fileno(), 2**16, 0).decode(errors="replace")
        times = [child.found.report["time"] for child in self.children if child.found.report]
        found = {child.rank: child.found for child in self.children}
        everyone = [found.get(rank, Found(absent=True)) for rank in range(self.job.ranks)]
        return Outcome(why, everyone, max(times, default=self.start) - self.start)

    def _ask_where(self, children: list[_Child]) -> None:
        """Make each write down where it is. It dies of this signal, which is not its fault."""
        for child in children:
            os.kill(child.pid, signal.SIGUSR1)
        self._until(lambda: all(child.silent for child in children), LAST_WORDS)
        for child in children:
            child.found.status = None

    def _until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Serve whatever comes until ``done()``; False when the time is over first."""
        deadline = time.monotonic() + seconds
        while not done():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self.selector.select(left):
                key.data()
        return True

    def _listen(self, source: socket.socket | int, then: Callable[[], Any]) -> None:
        self.selector.register(source, selectors.EVENT_READ, then)

    # Births and deaths.

    def _bear(self, rank: int) -> None:
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        stack = open(self.folder / f"stack-{rank}", "w+b")  # noqa: SIM115 - lives as long as the rank
        pid = os.fork()
        if pid == 0:
            self._become_rank(rank, theirs, write, stack)
        theirs.close()
        os.close(write)
        ours.setblocking(False)
        os.set_blocking(read, False)
        child = _Child(rank, pid, ours, read, stack)
        self.children.append(child)
        self._listen(ours, lambda: self._hear(child))
        self._listen(read, lambda: self._take_output(child))

    def _become_rank(self, rank: int, line: socket.socket, output: int, stack: BinaryIO) -> NoReturn:
        """In the child: leave the warden's things behind and be a rank."""
        from rankzero import rank as ranks

        try:
            processes.die_with_parent()
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.selector.close()
            for end in (self.caller, self.ear, self.mouth, *(child.line for child in self.children)):
                end.close()
            for child in self.children:
                os.close(child.output)
                child.stack.close()
            slot = memoryview(self.slots)[rank * SLOT : (rank + 1) * SLOT]
            ranks.live(rank, self.job, self.folder, line, output, stack, slot)
        finally:
            os._exit(70)

    def _collect_dead(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.ear.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (death := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = death
                for child in self.children:
                    if child.pid == pid:
                        child.buried = True
                        killed = os.WIFSIGNALED(status)
                        child.found.status = os.WTERMSIG(status) if killed else 256 + os.WEXITSTATUS(status)

    def _abandon(self) -> NoReturn:
        """The caller is gone, or was interrupted: end everything, answer nobody."""
        self.bury()
        os._exit(0)

    def bury(self) -> None:
        """End every process of the run and remove its folder; again does no harm."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ranks = [child.pid for child in self.children]
        processes.end_descendants(groups=ranks, living=[child.pid for child in self.children if not child.buried])
        shutil.rmtree(self.folder, ignore_errors=True)

    # What ranks say.

    def _hear(self, child: _Child) -> None:
        try:
            data = child.line.recv(2**20)
        except ConnectionResetError:
            data = b""
        if not data:
            self.selector.unregister(child.line)
            return
        child.inbox += data
        if not child.ready and child.inbox[:1] == b"+":
            child.ready, child.inbox = True, child.inbox[1:]
        child.found.report = parcels.complete(child.inbox)

    def _take_output(self, child: _Child) -> bool:
        """Take a piece of what the rank printed: keep the beginning, count the rest. False when there is none."""
        try:
            data = os.read(child.output, 2**16)
        except BlockingIOError:
            return False
        if not data:
            with contextlib.suppress(KeyError):
                self.selector.unregister(child.output)
            return False
        kept = data[: max(0, OUTPUT_LIMIT - len(child.found.output))]
        child.found.output += kept
        child.found.dropped += len(data) - len(kept)
        return True

"""The supervisor of one run: it forks the ranks, starts them together, enforces the time limit, and kills all of them.

Nothing that a rank does can hang a run, because the supervisor does not ask ranks to exit: it kills them. A rank that
has finished or raised stays alive until every rank has reported. So its peers are found waiting for it, instead of
failing because their connection was closed. A deadlock is told as soon as nothing moves any more, long before the time
limit (:mod:`rankzero.world.stillness`). On Linux the supervisor adopts every orphan of its ranks, so that processes
that the ranks started are killed too, whatever session they are in.

The supervisor collects the facts; :mod:`rankzero.world.reports` puts them into words, in the caller's process.
"""

from __future__ import annotations

import contextlib
import math
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
from typing import Any, BinaryIO, NoReturn

from rankzero.world import processes, serialization, stillness
from rankzero.world.job import OUTPUT_LIMIT, START_LIMIT, Ending, Job, Outcome, RankOutcome
from rankzero.world.rank import run_rank

SLOT = 1024  # bytes for the operation that a rank is waiting in
GRACE = 0.2  # seconds that the other ranks get to end by themselves after one has failed
BUSY_GRACE = 3.0  # and seconds for those that still compute, which on a busy machine may only be late
LOOK = 0.05  # seconds between two looks at whether they still do
PAUSE = 0.3  # seconds between two looks at whether anything moves when the time is over
STACK_LIMIT = 5.0  # seconds that a rank may take to dump its stack


@dataclass
class _Child:
    """What the supervisor knows about one rank."""

    rank: int
    pid: int
    connection: socket.socket
    output: int
    stack: BinaryIO
    outcome: RankOutcome = field(default_factory=RankOutcome)
    inbox: bytearray = field(default_factory=bytearray)
    ready: bool = False
    reaped: bool = False

    @property
    def done(self) -> bool:
        """Whether it has reported or died, so that nothing more will come from it."""
        return self.outcome.report is not None or self.outcome.status is not None

    @property
    def failed(self) -> bool:
        """Whether it raised, or died before it could report."""
        return self.done and (self.outcome.report is None or self.outcome.report.state != "finished")


def serve(caller: socket.socket) -> None:
    """Receive one job, run it, kill every process that it started, and send the outcome."""
    os.setsid()
    processes.adopt_orphans()
    job = Job(*serialization.receive(caller))
    run = _Run(job, caller, Path(tempfile.mkdtemp(prefix="rankzero-")))
    try:
        outcome = run.watch()
    finally:
        run.clean_up()
    with contextlib.suppress(OSError):
        serialization.send(caller, tuple(outcome))


class _Run:
    """The processes of one run, and the loop that watches them."""

    def __init__(self, job: Job, caller: socket.socket, folder: Path) -> None:
        self.job, self.caller, self.folder = job, caller, folder
        self.slots = mmap.mmap(-1, SLOT * job.ranks)  # shared with the ranks
        self.children: list[_Child] = []
        self.start = 0.0
        self.selector = selectors.DefaultSelector()
        self.wake_read, self.wake_write = socket.socketpair()  # becomes readable when a child dies
        for end in (self.wake_read, self.wake_write):
            end.setblocking(False)
        signal.set_wakeup_fd(self.wake_write.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._listen(self.wake_read, self._reap)
        self._listen(caller, self._abort)

    def watch(self) -> Outcome:
        """Start every rank, wait until the run ends in one way or another, and return the outcome."""
        complete = self.job.withheld is None
        for rank in range(self.job.ranks):
            if rank != self.job.withheld:
                self._start_rank(rank)
        limit = START_LIMIT if complete else self.job.timeout
        if not self._serve_until(
            lambda: self._failed or (complete and all(child.ready for child in self.children)), limit
        ):
            return self._end("not joined")
        self.start = time.monotonic()
        for child in self.children:
            with contextlib.suppress(OSError):
                child.connection.send(struct.pack("!d", self.start))
        still = stillness.Stillness(self.folder / "store", self._views)
        if not self._serve_until(
            lambda: self._failed or self._done or still.lasts(), self.job.timeout, stillness.PERIOD
        ):
            return self._end("stuck" if self._seems_still() else "timed out")
        if self._failed:
            self._serve_until(lambda: self._done, GRACE)
            self._serve_until(lambda: not any(self._computes(child) for child in self.children), BUSY_GRACE, LOOK)
            return self._end("failed")
        return self._end("finished" if self._done else "stuck")

    def _seems_still(self) -> bool:
        """Whether nothing moves between two looks: who is only slow, or calls the same again and again, does."""
        before = stillness.Moment(self._views(), self.folder / "store")
        self._serve_until(lambda: False, PAUSE)
        return stillness.Moment(self._views(), self.folder / "store").is_still(before)

    def _views(self) -> list[stillness.View]:
        """Every rank as :mod:`rankzero.world.stillness` looks at it."""
        slots = [bytes(self.slots[child.rank * SLOT : (child.rank + 1) * SLOT]) for child in self.children]
        return [
            stillness.View(child.pid, child.stack.fileno(), slot, child.done)
            for child, slot in zip(self.children, slots, strict=True)
        ]

    @property
    def _failed(self) -> bool:
        return any(child.failed for child in self.children)

    @property
    def _done(self) -> bool:
        return all(child.done for child in self.children)

    def _waiting(self, child: _Child) -> str:
        """The operation that a rank is waiting in; empty if it is in none."""
        slot = self.slots[child.rank * SLOT : (child.rank + 1) * SLOT]
        return slot.split(b"\0", 1)[0].decode(errors="replace")

    def _computes(self, child: _Child) -> bool:
        """Whether a rank has not ended and waits in no operation."""
        return not child.done and not self._waiting(child)

    def _end(self, ending: Ending) -> Outcome:
        """Note what each rank is doing, kill all of them, and read the rest of what they printed."""
        for child in self.children:
            child.outcome.waiting = self._waiting(child)
        self._dump_stacks([child for child in self.children if not child.done])
        self.clean_up()
        for child in self.children:
            while self._take_output(child):
                pass
            child.outcome.stack = os.pread(child.stack.fileno(), 2**16, 0).decode(errors="replace")
        times = [child.outcome.report.time for child in self.children if child.outcome.report]
        outcomes = {child.rank: child.outcome for child in self.children}
        everyone = [outcomes.get(rank, RankOutcome(absent=True)) for rank in range(self.job.ranks)]
        return Outcome(ending, everyone, max(times, default=self.start) - self.start)

    def _dump_stacks(self, children: list[_Child]) -> None:
        """Have each child dump its stack. The signal kills it, so its exit status says nothing and is dropped."""
        for child in children:
            os.kill(child.pid, signal.SIGUSR1)
        self._serve_until(lambda: all(child.done for child in children), STACK_LIMIT)
        for child in children:
            child.outcome.status = None

    def _serve_until(self, done: Callable[[], bool], seconds: float, look: float = math.inf) -> bool:
        """Handle whatever the ranks and the caller send until ``done()``; False if that takes more than ``seconds``.

        ``look``: seconds after which ``done()`` is asked again though nobody has sent anything.
        """
        deadline = time.monotonic() + seconds
        while not done():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self.selector.select(min(left, look)):
                key.data()
        return True

    def _listen(self, source: socket.socket | int, then: Callable[[], Any]) -> None:
        self.selector.register(source, selectors.EVENT_READ, then)

    # Starting and ending ranks.

    def _start_rank(self, rank: int) -> None:
        ours, theirs = socket.socketpair()
        read, write = os.pipe()
        stack = open(self.folder / f"stack-{rank}", "w+b")  # noqa: SIM115 - lives as long as the rank
        pid = os.fork()
        if pid == 0:
            self._run_as_rank(rank, theirs, write, stack)
        theirs.close()
        os.close(write)
        ours.setblocking(False)
        os.set_blocking(read, False)
        child = _Child(rank, pid, ours, read, stack)
        self.children.append(child)
        self._listen(ours, lambda: self._read_report(child))
        self._listen(read, lambda: self._take_output(child))

    def _run_as_rank(self, rank: int, connection: socket.socket, output: int, stack: BinaryIO) -> NoReturn:
        """In the child: close the supervisor's connections and files, and run the rank."""
        try:
            processes.die_with_parent()
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self.selector.close()
            for end in (self.caller, self.wake_read, self.wake_write, *(child.connection for child in self.children)):
                end.close()
            for child in self.children:
                os.close(child.output)
                child.stack.close()
            slot = memoryview(self.slots)[rank * SLOT : (rank + 1) * SLOT]
            run_rank(rank, self.job, self.folder, connection, output, stack, slot)
        finally:
            os._exit(70)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.wake_read.recv(4096)
        with contextlib.suppress(ChildProcessError):
            while (death := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = death
                for child in self.children:
                    if child.pid == pid:
                        child.reaped = True
                        killed = os.WIFSIGNALED(status)
                        child.outcome.status = os.WTERMSIG(status) if killed else 256 + os.WEXITSTATUS(status)

    def _abort(self) -> NoReturn:
        """The caller is gone or was interrupted: kill everything and exit without an answer."""
        self.clean_up()
        os._exit(0)

    def clean_up(self) -> None:
        """Kill every process of the run and remove its folder; calling it again is harmless."""
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ranks = [child.pid for child in self.children]
        processes.end_descendants(groups=ranks, living=[child.pid for child in self.children if not child.reaped])
        shutil.rmtree(self.folder, ignore_errors=True)

    # Reading reports and output.

    def _read_report(self, child: _Child) -> None:
        try:
            data = child.connection.recv(2**20)
        except ConnectionResetError:
            data = b""
        if not data:
            self.selector.unregister(child.connection)
            return
        child.inbox += data
        if not child.ready and child.inbox[:1] == b"+":
            child.ready, child.inbox = True, child.inbox[1:]
        child.outcome.report = serialization.complete_message(child.inbox)

    def _take_output(self, child: _Child) -> bool:
        """Read some of the rank's output, keep it up to the limit, and count the rest; False if there is nothing."""
        try:
            data = os.read(child.output, 2**16)
        except BlockingIOError:
            return False
        if not data:
            with contextlib.suppress(KeyError):
                self.selector.unregister(child.output)
            return False
        kept = data[: max(0, OUTPUT_LIMIT - len(child.outcome.output))]
        child.outcome.output += kept
        child.outcome.dropped += len(data) - len(kept)
        return True

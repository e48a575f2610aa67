"""The grader's children: processes in a sandbox, with pipes that never block, ended with all that they have started."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.marking.values import MAX_LINE
from autograder.running.deadlines import Deadline
from autograder.running.messages import Message
from autograder.running.transport import Child
from autograder.sandbox import Launch, Sandbox, room, site_packages
from autograder.sandbox.runaways import (
    ALIVE,
    PR_SET_CHILD_SUBREAPER,
    STARTING,
    become_subreaper,
    end_runaways,
    subreaping,
)
from autograder.starting import NotStarted, Package

__all__ = ["ALIVE", "PR_SET_CHILD_SUBREAPER", "Process", "Processes", "become_subreaper", "remove", "subreaping"]

MIB = 1 << 20
#: Least seconds between two looks at how much room on the disk a child takes.
LOOK = 0.05
#: Address space of a child by its heaviest package, bytes.
MEMORY: dict[Package, int] = {"": 512 * MIB, "numpy": 1024 * MIB, "torch": 4096 * MIB}


class Process(Child):
    """A child that is started with ``launch``.

    What a submission prints is read, so that the child cannot block, and dropped, because it could reveal hidden
    inputs.
    """

    def __init__(self, launch: Launch) -> None:
        super().__init__()
        self.inside, self._hooks = launch.inside, launch.hooks
        self.settings = settings(launch)
        if not launch.inside:
            become_subreaper()
        self._folder = None if launch.inside else tempfile.mkdtemp(prefix="submission-")
        self._look_at = 0.0
        try:
            self._spawn(launch)
        except OSError as error:
            if self in ALIVE:
                self._popen.kill()
                self._popen.wait()
                ALIVE.discard(self)
            self._clean_up()
            raise NotStarted(f"no child can be started: {error}") from None
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._requests, self._replies, self._prints = (pipe.fileno() for pipe in pipes if pipe)
        for descriptor in (self._requests, self._replies, self._prints):
            os.set_blocking(descriptor, False)
        self._out, self._in = bytearray(), bytearray()
        self._printing = True

    def _spawn(self, launch: Launch) -> None:
        if self._folder:
            for hook in self._hooks:
                hook.prepare(self._folder)
        with STARTING, contextlib.ExitStack() as held:
            for hook in self._hooks:
                held.enter_context(hook.around())
            self._popen = subprocess.Popen(
                launch.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**launch.env, "HOME": self._folder, "TMPDIR": self._folder} if self._folder else launch.env,
                cwd=self._folder or "/",
                start_new_session=True,
                bufsize=0,
            )
            self.pid = self._popen.pid
            self.pids = (self.pid,)
            ALIVE.add(self)

    def confine(self) -> None:
        """Set the outer limits of the child, as each hook does.

        Raises:
            NotStarted: the limits cannot be set.
        """
        try:
            for hook in self._hooks:
                hook.enter(self.pid)
        except OSError as error:
            self.kill()
            raise NotStarted(f"a child cannot be bounded: {error}") from None

    # Talking.

    def put(self, lines: Sequence[str]) -> None:
        """Queue lines, and write as much of them as the pipe accepts."""
        if self.alive:
            self._out += "".join(f"{line}\n" for line in lines).encode()
            self._write()

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            while self._out:
                del self._out[: os.write(self._requests, self._out)]

    def _drain(self) -> None:
        """Read and drop printed text, a bounded amount at a time, so that a flood cannot hold up the grader."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                if not os.read(self._prints, 1 << 16):
                    self._printing = False
                    return

    def _read(self) -> Message | None:
        """A reply; an empty message if it is not complete yet, None if the child has ended or broke the rules."""
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._replies, 1 << 18)
            if not data:
                self.end(self._status())
                return None
            self._in += data
        return self._next()

    def _next(self) -> Message | None:
        end = self._in.find(b"\n")
        if end < 0:
            if len(self._in) <= MAX_LINE:
                return Message()
            self.end("it flooded the grader's channel")
            return None
        line = bytes(self._in[:end])
        del self._in[: end + 1]
        return self.heard(line)

    def _overfills(self) -> bool:
        """Whether the child takes more room on the disk than it may, which ends it. Looked up only now and then."""
        began = time.monotonic()
        if not self._folder or began < self._look_at:
            return False
        if full := room.overfull(self._folder, self.pid):
            self.end(f"the process wrote more to its folder than the {room.ROOM // MIB} MiB that it may")
        now = time.monotonic()
        self._look_at = now + max(LOOK, 4 * (now - began))  # very many files take a while
        return full

    def _status(self) -> str:
        """Why the process ended, in words. Without its channel it has a second to end, and what a busy host takes."""
        deadline = Deadline(self.pids, 1.0)
        while not deadline.passed or deadline.extend():
            with contextlib.suppress(subprocess.TimeoutExpired):
                ended = ending(self._popen.wait(max(0.0, deadline.until - time.monotonic())), self.inside)
                return next(filter(None, (hook.verdict() for hook in self._hooks)), ended)
        return "the process closed its channel"

    # Ending.

    def kill(self) -> None:
        """End the child and everything it started, and remove its working folder."""
        if not self.alive:
            return
        self.alive = False
        self._out, self._in = bytearray(), bytearray()
        if not self.inside:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        self._popen.kill()
        if self.inside:
            self._await_namespace_end()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe:
                pipe.close()
        self._popen.wait()
        ALIVE.discard(self)
        self._clean_up()

    def _clean_up(self) -> None:
        """Remove everything the child left: processes, control group, folder."""
        with contextlib.ExitStack() as last:  # runs all of them, even if one raises
            if self._folder:
                last.callback(remove, self._folder)
            if subreaping():
                last.callback(end_runaways)
            for hook in reversed(self._hooks):
                last.callback(hook.end)

    def _await_namespace_end(self) -> None:
        """Wait at most a second until no process of the namespace holds the reply channel any more."""
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        deadline = time.monotonic() + 1.0
        with contextlib.suppress(BlockingIOError):
            while time.monotonic() < deadline and (not poll.poll(100) or os.read(self._replies, 1 << 18)):
                pass


class Processes:
    """The transport of the grader: each child is a process in ``sandbox``."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def start(self, package: Package) -> Process:
        """Start a child behind the walls of the sandbox."""
        return Process(self.sandbox.launch(site_packages() if package else (), package))

    def exchange(self, children: Iterable[Child], deadline: float) -> list[tuple[Child, Message | None]]:
        """Write what is queued and read until at least one child has replied or ended, or until ``deadline``."""
        living = [child for child in children if isinstance(child, Process) and child.alive]
        replies: list[tuple[Child, Message | None]] = [(child, None) for child in living if child._overfills()]
        living = [child for child in living if child.alive]
        replies += ((child, message) for child in living if (message := child._next()) != {})
        while not replies:
            left = deadline - time.monotonic()
            if left <= 0:
                return []
            replies += ((child, message) for child in _ready(living, left) if (message := child._read()) != {})
            replies = replies or [(child, None) for child in living if child._overfills()]
        return replies


def settings(launch: Launch) -> dict[str, Any]:
    """What a child is told to do to itself before any of the submission's code runs."""
    return {
        "limits": resources(launch.package, alone=launch.inside or "user" in launch.walls),
        "walls": launch.walls,
        "packages": launch.packages,
        "preload": [launch.package] if launch.package else [],
    }


def resources(package: Package, alone: bool) -> dict[str, int]:
    """Resource limits of a child, for setrlimit. ``alone``: whether no other process runs as its user."""
    limits = {"CPU": 300 if package else 60, "AS": MEMORY[package], "FSIZE": 16 * MIB, "NOFILE": 256, "CORE": 0}
    limits["STACK"] = 8 * MIB
    return limits | ({"NPROC": 64} if alone else {})


def _ready(processes: list[Process], seconds: float) -> list[Process]:
    """The processes whose replies can be read. Also writes queued requests and drains printed text."""
    poll = select.poll()
    pause = LOOK if any(process._folder for process in processes) else 1.0
    for process in processes:
        poll.register(process._replies, select.POLLIN)
        if process._printing:
            poll.register(process._prints, select.POLLIN)
        if process._out:
            poll.register(process._requests, select.POLLOUT)
    events = {descriptor for descriptor, _ in poll.poll(min(seconds, pause) * 1000)}
    for process in processes:
        if process._requests in events:
            process._write()
        if process._prints in events:
            process._drain()
    return [process for process in processes if process._replies in events]


def ending(code: int, relayed: bool) -> str:
    """How a process ended, in words.

    Args:
        code: as :class:`subprocess.Popen` gives it: an exit status, or the negative number of a signal.
        relayed: the status comes from a program that reports how its own child ended, with 128 added to a signal.
    """
    number = -code if code < 0 else code - 128 if relayed else 0
    try:
        return f"the process was ended by {signal.Signals(number).name}"
    except ValueError:  # no signal, or one of the real-time signals, most of which have no name
        return f"the process exited with status {code}" if code >= 0 else f"the process was ended by signal {number}"


def remove(folder: str) -> None:
    """Remove a folder that a submission could write into, whatever it did there."""
    try:
        os.rmdir(folder)
    except OSError:  # not empty; it may be deeper than Python can walk, or locked
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL, check=False)

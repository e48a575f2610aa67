"""One child as the grader holds it: its pipes, never blocking and capped, and its end, with everything it started."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import Any

from autograder.sandbox import Launch
from autograder.values import MAX_LINE, Malformed, parse

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37

#: Process ids of the living children of this grader, so that only runaways are hunted.
ALIVE: set[int] = set()


class Process:
    """A child that was started with ``launch``.

    Requests go out with a new random id, and replies must carry it. A call may be queued behind the one in flight, so
    that the child need not wait for the grader; it is taken up when that one is answered. What a submission prints is
    read, so that it cannot block, and dropped: it could tell hidden inputs.
    """

    def __init__(self, launch: Launch) -> None:
        self.inside = launch.inside
        if not launch.inside:
            become_subreaper()
        self._folder = None if launch.inside else tempfile.mkdtemp(prefix="submission-")
        env = launch.env if launch.inside else {**launch.env, "HOME": self._folder or "/tmp"}
        self._popen = subprocess.Popen(
            launch.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=self._folder or "/",
            start_new_session=True,
            bufsize=0,
        )
        ALIVE.add(self._popen.pid)
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._requests, self._replies, self._prints = (pipe.fileno() for pipe in pipes if pipe)
        for descriptor in (self._requests, self._replies, self._prints):
            os.set_blocking(descriptor, False)
        self._out, self._in = bytearray(), bytearray()
        self._printing = True
        self.ids: collections.deque[str] = collections.deque()
        self.alive, self.ready, self.asked = True, False, False
        self.ended = ""

    # Talking.

    def send(self, **message: Any) -> None:
        """Queue a request under a new id; no other is in flight any more."""
        self.ids.clear()
        self.queue(json.dumps(message))

    def queue(self, request: str) -> None:
        """Queue a request, a JSON object, behind those in flight."""
        self.ids.append(secrets.token_hex(8))
        self._put(request, self.ids[-1])

    def tell(self, **message: Any) -> None:
        """Queue a message that belongs to the request in flight."""
        self._put(json.dumps(message), self.ids[0])

    def _put(self, message: str, identifier: str) -> None:
        if self.alive:
            self._out += f'{{"id": "{identifier}", {message[1:]}\n'.encode()
            self._write()

    def _write(self) -> None:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            while self._out:
                del self._out[: os.write(self._requests, self._out)]

    def _drain(self) -> None:
        """Read and drop what was printed: a bounded amount at a time, so that a flood cannot hold us here."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(64):
                if not os.read(self._prints, 1 << 16):
                    self._printing = False
                    return

    def _read(self) -> dict[str, Any] | None:
        """A whole reply; ``{}`` when more must come, None when the child has ended or broke the rules."""
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._replies, 1 << 18)
            if not data:
                self._end(self._status())
                return None
            self._in += data
        return self._next()

    def _next(self) -> dict[str, Any] | None:
        end = self._in.find(b"\n")
        if end < 0:
            if len(self._in) <= MAX_LINE:
                return {}
            self._end("it flooded the grader's channel")
            return None
        line = bytes(self._in[:end])
        del self._in[: end + 1]
        try:
            message = parse(line)
        except Malformed:
            self._end("it wrote on the grader's channel")
            return None
        if not self.ids or message.get("id") != self.ids[0]:
            self._end("it answered what was not asked")
            return None
        return message

    def _end(self, reason: str) -> None:
        self.kill()
        self.ended = reason

    def _status(self) -> str:
        """Why the process ended, in words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._popen.wait(1.0)
            number = -code if code < 0 else code - 128
            if number in signal.valid_signals() and number:
                return f"the process was ended by {signal.Signals(number).name}"
            return f"the process exited with status {code}"
        return "the process closed its channel"

    # Ending.

    def kill(self) -> None:
        """End the child and everything that it started, and remove its working folder."""
        if not self.alive:
            return
        self.alive = False
        if not self.inside:
            with contextlib.suppress(OSError):
                os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.kill()
        if self.inside:
            self._await_silence()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe:
                pipe.close()
        self._popen.wait()
        ALIVE.discard(self._popen.pid)
        if subreaping():
            end_runaways()
        if self._folder:
            remove(self._folder)

    def _await_silence(self) -> None:
        """Until nobody holds the reply channel any more: all of the namespace is gone (at most a second)."""
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        deadline = time.monotonic() + 1.0
        with contextlib.suppress(BlockingIOError):
            while time.monotonic() < deadline and (not poll.poll(100) or os.read(self._replies, 1 << 18)):
                pass


def exchange(processes: Iterable[Process], deadline: float) -> list[tuple[Process, dict[str, Any] | None]]:
    """Write what is queued and read until at least one process has replied or ended, or until ``deadline``.

    A process that ended comes with None, and is dead. An empty list means that the deadline has passed.
    """
    living = [process for process in processes if process.alive]
    replies = [(process, message) for process in living if (message := process._next()) != {}]
    while not replies:
        left = deadline - time.monotonic()
        if left <= 0:
            return []
        for process in _ready(living, left):
            message = process._read()
            if message != {}:
                replies.append((process, message))
    return replies


def _ready(processes: list[Process], seconds: float) -> list[Process]:
    """The processes whose replies can be read; meanwhile requests are written and prints drained."""
    poll = select.poll()
    for process in processes:
        poll.register(process._replies, select.POLLIN)
        if process._printing:
            poll.register(process._prints, select.POLLIN)
        if process._out:
            poll.register(process._requests, select.POLLOUT)
    events = {descriptor for descriptor, _ in poll.poll(min(seconds, 1.0) * 1000)}
    for process in processes:
        if process._requests in events:
            process._write()
        if process._prints in events:
            process._drain()
    return [process for process in processes if process._replies in events]


def remove(folder: str) -> None:
    """Remove a folder that a submission wrote into, whatever it did to it."""
    try:
        os.rmdir(folder)
    except OSError:  # not empty; it may be deeper than Python can walk, or locked
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL, check=False)


# Runaways: processes that left their session. Without namespaces they become children of the nearest subreaper: us.


def become_subreaper() -> None:
    """Inherit the orphans of our children (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def subreaping() -> bool:
    """Whether orphans come to this process. Then those of a child in namespaces of its own come too, to be reaped."""
    answer = ctypes.c_int()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def _fields(pid: int | str, file: str, separator: str) -> dict[str, str]:
    """A file of ``/proc`` as a dictionary; empty when the process is gone."""
    try:
        with open(f"/proc/{pid}/{file}", encoding="utf-8", errors="replace") as lines:
            return dict(line.rstrip("\n").split(separator, 1) for line in lines if separator in line)
    except OSError:
        return {}


def _mark(pid: int | str) -> tuple[str | None, str | None]:
    """What a child inherits and cannot shed: no new privileges, and the hard limit of file sizes."""
    limit = _fields(pid, "limits", "file size").get("Max ", "").split()
    return _fields(pid, "status", ":\t").get("NoNewPrivs"), limit[1] if len(limit) > 1 else None


def _children(pid: int | str) -> list[int]:
    """Process ids of the children of a process."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    return found


def _runaways() -> list[int]:
    """Orphans that came to us and carry the mark of a child, and all that they started."""
    orphans = [pid for pid in _children("self") if pid not in ALIVE]
    if not orphans:
        return []
    mine = _mark("self")
    found = [pid for pid in orphans if _mark(pid) not in (mine, (None, None))]
    for pid in found:
        found += _children(pid)
    return found


def end_runaways(seconds: float = 2.0) -> None:
    """Kill and reap the orphans of children that have been ended, until there are none."""
    deadline = time.monotonic() + seconds
    while sys.platform == "linux" and time.monotonic() < deadline and (found := _runaways()):
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in found:
            with contextlib.suppress(OSError):
                os.waitpid(pid, os.WNOHANG)

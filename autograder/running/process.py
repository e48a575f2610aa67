"""One child as the grader holds it: its pipes, never blocking and capped, and its end, with everything it started."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.launch import Launch, SandboxFailed
from autograder.messages import Message, heard
from autograder.runaways import (
    ALIVE,
    BIRTHS,
    PR_SET_CHILD_SUBREAPER,
    become_subreaper,
    end_runaways,
    subreaping,
)
from autograder.values import MAX_LINE, Malformed

__all__ = ["ALIVE", "PR_SET_CHILD_SUBREAPER", "Process", "become_subreaper", "exchange", "remove", "subreaping"]


class Process:
    """A child that was started with ``launch``.

    Requests go out with a new random id, and replies must carry it. A call may be queued behind the one in flight, so
    that the child need not wait for the grader; it is taken up when that one is answered. What a submission prints is
    read, so that it cannot block, and dropped: it could tell hidden inputs.
    """

    def __init__(self, launch: Launch) -> None:
        self.inside, self.walls, self._wardens = launch.inside, launch.walls, launch.wardens
        if not launch.inside:
            become_subreaper()
        self._folder = None if launch.inside else tempfile.mkdtemp(prefix="submission-")
        try:
            self._born(launch)
        except OSError as error:
            if self in ALIVE:
                self._popen.kill()
                self._popen.wait()
                ALIVE.discard(self)
            self._leave()
            raise SandboxFailed(f"no child can be started: {error}") from None
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._requests, self._replies, self._prints = (pipe.fileno() for pipe in pipes if pipe)
        for descriptor in (self._requests, self._replies, self._prints):
            os.set_blocking(descriptor, False)
        self._out, self._in = bytearray(), bytearray()
        self._printing = True
        self.ids: collections.deque[str] = collections.deque()
        self.alive, self.ready = True, False
        self.ended = ""

    def _born(self, launch: Launch) -> None:
        if self._folder:
            for warden in self._wardens:
                warden.prepare(self._folder)
        with BIRTHS, contextlib.ExitStack() as held:
            for warden in self._wardens:
                held.enter_context(warden.around())
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
            ALIVE.add(self)

    def enter(self) -> None:
        """The child is up, and nothing of the submission has run: now it is bounded from the outside.

        Raises:
            SandboxFailed: that cannot be done.
        """
        try:
            for warden in self._wardens:
                warden.enter(self.pid)
        except OSError as error:
            self.kill()
            raise SandboxFailed(f"a child cannot be bounded: {error}") from None

    # Talking.

    def send(self, **message: Any) -> None:
        """Queue a request under a new id; no other is in flight any more."""
        self.ids.clear()
        self.queue(json.dumps(message))

    def queue(self, *requests: str) -> None:
        """Queue requests, JSON objects, behind those in flight."""
        named = [(secrets.token_hex(8), request) for request in requests]
        self.ids.extend(identifier for identifier, _ in named)
        self._put(named)

    def tell(self, **message: Any) -> None:
        """Queue a message that belongs to the request in flight."""
        self._put([(self.ids[0], json.dumps(message))])

    def _put(self, messages: Sequence[tuple[str, str]]) -> None:
        """Queue JSON objects under their ids, by one write as far as the pipe takes them."""
        if self.alive:
            self._out += "".join(f'{{"id": "{identifier}", {text[1:]}\n' for identifier, text in messages).encode()
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

    def _read(self) -> Message | None:
        """A whole reply; an empty one when more must come, None when the child has ended or broke the rules."""
        with contextlib.suppress(BlockingIOError):
            data = os.read(self._replies, 1 << 18)
            if not data:
                self._end(self._status())
                return None
            self._in += data
        return self._next()

    def _next(self) -> Message | None:
        end = self._in.find(b"\n")
        if end < 0:
            if len(self._in) <= MAX_LINE:
                return Message()
            self._end("it flooded the grader's channel")
            return None
        line = bytes(self._in[:end])
        del self._in[: end + 1]
        try:
            message = heard(line, self.ids[0]) if self.ids else None
        except Malformed:
            self._end("it wrote on the grader's channel")
            return None
        if message is None:
            self._end("it answered what was not asked")
        return message

    def _end(self, reason: str) -> None:
        self.kill()
        self.ended = reason

    def _status(self) -> str:
        """Why the process ended, in words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = ending(self._popen.wait(1.0), self.inside)
            return next(filter(None, (warden.verdict() for warden in self._wardens)), ended)
        return "the process closed its channel"

    # Ending.

    def kill(self) -> None:
        """End the child and everything that it started, and remove its working folder."""
        if not self.alive:
            return
        self.alive = False
        if not self.inside:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        self._popen.kill()
        if self.inside:
            self._await_silence()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe:
                pipe.close()
        self._popen.wait()
        ALIVE.discard(self)
        self._leave()

    def _leave(self) -> None:
        """Nothing of the child stays: no process, no group, no folder."""
        with contextlib.ExitStack() as last:  # whatever one of them raises, the others follow
            if self._folder:
                last.callback(remove, self._folder)
            if subreaping():
                last.callback(end_runaways)
            for warden in reversed(self._wardens):
                last.callback(warden.end)

    def _await_silence(self) -> None:
        """Until nobody holds the reply channel any more: all of the namespace is gone (at most a second)."""
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        deadline = time.monotonic() + 1.0
        with contextlib.suppress(BlockingIOError):
            while time.monotonic() < deadline and (not poll.poll(100) or os.read(self._replies, 1 << 18)):
                pass


def exchange(processes: Iterable[Process], deadline: float) -> list[tuple[Process, Message | None]]:
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


def ending(code: int, relayed: bool) -> str:
    """How a process ended, in words.

    Args:
        code: as :class:`subprocess.Popen` gives it: an exit status, or the negative number of a signal.
        relayed: the status is that of a program which reports the end of its own child, and a signal as 128 more.
    """
    number = -code if code < 0 else code - 128 if relayed else 0
    try:
        return f"the process was ended by {signal.Signals(number).name}"
    except ValueError:  # no signal, or one of the real-time signals, most of which have no name
        return f"the process exited with status {code}" if code >= 0 else f"the process was ended by signal {number}"


def remove(folder: str) -> None:
    """Remove a folder that a submission wrote into, whatever it did to it."""
    try:
        os.rmdir(folder)
    except OSError:  # not empty; it may be deeper than Python can walk, or locked
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL, check=False)

"""One child process: its pipes, which never block and have limits, and how it is ended with all it has started."""

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

from autograder.marking.values import MAX_LINE, Malformed
from autograder.running.messages import Message, message_of
from autograder.sandbox.launch import Launch, SandboxFailed
from autograder.sandbox.runaways import (
    ALIVE,
    PR_SET_CHILD_SUBREAPER,
    STARTING,
    become_subreaper,
    end_runaways,
    subreaping,
)

__all__ = ["ALIVE", "PR_SET_CHILD_SUBREAPER", "Process", "become_subreaper", "exchange", "remove", "subreaping"]


class Process:
    """A child that is started with ``launch``.

    Each request has a new random id, which its reply must carry. More calls may be queued behind the one in flight, so
    that the child need not wait for the grader. What a submission prints is read, so that the child cannot block, and
    dropped, because it could reveal hidden inputs.
    """

    def __init__(self, launch: Launch) -> None:
        self.inside, self.walls, self._hooks = launch.inside, launch.walls, launch.hooks
        if not launch.inside:
            become_subreaper()
        self._folder = None if launch.inside else tempfile.mkdtemp(prefix="submission-")
        try:
            self._spawn(launch)
        except OSError as error:
            if self in ALIVE:
                self._popen.kill()
                self._popen.wait()
                ALIVE.discard(self)
            self._clean_up()
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
            ALIVE.add(self)

    def enter(self) -> None:
        """Set the outer limits of the child, which has started but not yet run any code of the submission.

        Raises:
            SandboxFailed: the limits cannot be set.
        """
        try:
            for hook in self._hooks:
                hook.enter(self.pid)
        except OSError as error:
            self.kill()
            raise SandboxFailed(f"a child cannot be bounded: {error}") from None

    # Talking.

    def send(self, **message: Any) -> None:
        """Queue a request under a new id; earlier requests no longer count as in flight."""
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
        """Queue JSON objects under their ids, and write as much of them as the pipe accepts."""
        if self.alive:
            self._out += "".join(f'{{"id": "{identifier}", {text[1:]}\n' for identifier, text in messages).encode()
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
            message = message_of(line, self.ids[0]) if self.ids else None
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
            return next(filter(None, (hook.verdict() for hook in self._hooks)), ended)
        return "the process closed its channel"

    # Ending.

    def kill(self) -> None:
        """End the child and everything it started, and remove its working folder."""
        if not self.alive:
            return
        self.alive = False
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


def exchange(processes: Iterable[Process], deadline: float) -> list[tuple[Process, Message | None]]:
    """Write what is queued and read until at least one process has replied or ended, or until ``deadline``.

    None stands for the reply of a process that has ended. An empty list means that the deadline has passed.
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
    """The processes whose replies can be read. Also writes queued requests and drains printed text."""
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

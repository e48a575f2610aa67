"""The fork server: one process that has already imported torch and forks in milliseconds.

Importing torch takes seconds; forking a process that has imported it takes milliseconds. So the first run starts one
fork server, which imports torch once and then waits. For each run the caller sends it one end of a socket pair; it
forks a supervisor (:mod:`rankzero.world.supervisor`), which owns that run, and goes back to waiting. It exits when the
caller does. :class:`Forkserver` is the caller's side, :func:`main` the process itself; the caller never imports torch.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import math
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from rankzero.world import huge_pages
from rankzero.world.environment import fixed_environment

#: How the last part of a traceback begins, and how much is shown of it, characters.
EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b(?::|$)")
LONGEST = 300
ROOT = str(Path(__file__).parents[2])
PRELOADED = (
    "cloudpickle",
    "numpy",
    "torch",
    "torch.distributed",
    "torch.nn.parallel",
    "rankzero.world.supervisor",
)
#: Modules that optimizers, sharding, and ``backward`` with an explicit gradient import when they are first used.
PRELOADED_LATER = (
    "torch.fx.experimental.symbolic_shapes",
    "torch._dynamo",
    "torch.distributed.tensor",
    "torch.distributed.fsdp",
)


class Forked:
    """A process that another one has forked and reaps; so far as callers need it, like :class:`subprocess.Popen`."""

    stderr = None
    returncode: int | None = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            self.returncode = 0
        return self.returncode

    def wait(self, timeout: float = math.inf) -> int:
        end = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("fork", timeout)
            time.sleep(0.02)
        return 0

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forkserver:
    """The caller's side: starts the process, opens runs, and stops the process."""

    def __init__(self, model: socket.socket | None = None) -> None:
        """``model`` is the control of another server: the new one is a fork of that, and has imported what it has."""
        self.owner = os.getpid()
        self.preloaded: set[str] = set()
        self.control, theirs = socket.socketpair()
        with theirs:
            if model is not None:
                socket.send_fds(model, [b"f"], [theirs.fileno()])
                self.process: subprocess.Popen[bytes] | Forked = Forked(*struct.unpack("!I", self.control.recv(4)))
                return
            start = f"from rankzero.world import forkserver; forkserver.main({theirs.fileno()})"
            code = f"import sys; sys.path[:] = {_search_path()!r}; {start}"
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],
                env=os.environ | fixed_environment(os.environ),
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        """Whether the calling process can open runs with it: it started the server, and the server is running."""
        return self.owner == os.getpid() and self.process.poll() is None

    def preload(self, modules: Iterable[str]) -> None:
        """Have the process import modules before the next run, so that each rank need not."""
        if new := [module for module in modules if module not in self.preloaded]:
            self.preloaded.update(new)
            names = " ".join(new).encode()
            self.control.sendall(b"i" + struct.pack("!I", len(names)) + names)

    def open_run(self) -> socket.socket:
        """Start a new supervisor, and return a socket connected to it."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"+"], [theirs.fileno()])
        return ours

    def exit_reason(self) -> str:
        """Why the process ended: the exception at the end of its standard error; empty if it has not ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)
        if self.process.returncode is None or self.process.stderr is None:
            return ""
        return _last_exception(self.process.stderr.read().decode(errors="replace"))

    def close(self) -> None:
        """Stop the process, and with it every run still in progress."""
        self.control.close()
        if self.owner == os.getpid():
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            if self.process.stderr is not None:
                self.process.stderr.close()


def _last_exception(text: str) -> str:
    """The exception with which a traceback ends, on one line, as far as its first sentence goes; else the last line."""
    lines = text.strip().splitlines() or [""]
    places = [index for index, line in enumerate(lines) if EXCEPTION.match(line)]
    said = " ".join(" ".join(lines[places[-1] if places else -1 :]).split())
    return re.split(r"(?<=[a-z]\.) ", said)[0][:LONGEST]


_lock = threading.Lock()
_forkserver: Forkserver | None = None


def current() -> Forkserver:
    """This process's fork server, started if necessary."""
    global _forkserver
    with _lock:
        if _forkserver is None or not _forkserver.alive:
            _forkserver = Forkserver()
        return _forkserver


def fork_of(model: socket.socket) -> None:
    """Have this process use a fork of the server that ``model`` controls, instead of one that imports torch anew."""
    global _forkserver
    with _lock:
        _forkserver = Forkserver(model)


def close() -> None:
    """Stop this process's fork server; the next run starts another."""
    global _forkserver
    with _lock:
        if _forkserver is not None:
            _forkserver.close()
        _forkserver = None


def _after_fork() -> None:
    """In a fork of the caller: close the copy of the caller's socket, so that the fork starts a server of its own."""
    global _lock, _forkserver
    _lock = threading.Lock()
    if _forkserver is not None:
        _forkserver.control.close()
    _forkserver = None


atexit.register(close)
if hasattr(os, "register_at_fork"):  # not on Windows, where this module is only imported
    os.register_at_fork(after_in_child=_after_fork)


def _search_path() -> list[str]:
    """The caller's import path without its working directory, whose files could shadow those of libraries."""
    here = {"", os.getcwd()}
    return [*(place for place in sys.path if place not in here), ROOT]


def main(control_fd: int) -> None:
    """What the fork server does: import torch, then fork a supervisor for each run until the caller is gone.

    It imports the heavier half of torch between runs, while nobody waits. Otherwise every rank that builds an optimizer
    would spend most of a second on it. Then it collapses its memory into huge pages, which makes each fork cheaper.
    """
    caller = os.getppid()
    control = socket.socket(fileno=control_fd)
    for module in PRELOADED:
        importlib.import_module(module)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system reaps the supervisors
    waiting = [*(functools.partial(importlib.import_module, name) for name in PRELOADED_LATER), huge_pages.collapse]
    gc.collect()
    while os.getppid() == caller:
        gc.freeze()  # garbage collection in the ranks then does not write to these pages, and they stay shared
        if select.select([control], [], [], 0.5 if waiting else 2.0)[0]:
            word, fds, *_ = socket.recv_fds(control, 1, 1)
            if word == b"f":
                if (twin := _fork(control, fds[0])) is not None:
                    caller, control = os.getppid(), twin
            elif not _obey(control, word, fds):
                break
        elif waiting:
            waiting.pop(0)()
    os._exit(0)


def _fork(control: socket.socket, connection: int) -> socket.socket | None:
    """Fork this server. The fork returns its own control, after it has sent its process id; this one returns None."""
    if os.fork():
        os.close(connection)
        return None
    control.close()
    os.setsid()
    twin = socket.socket(fileno=connection)
    twin.sendall(struct.pack("!I", os.getpid()))
    return twin


def _obey(control: socket.socket, word: bytes, fds: list[int]) -> bool:
    """Do what the caller asks for: fork a supervisor, or import modules; False if it has closed its end."""
    if word == b"+":
        _fork_supervisor(control, fds[0])
    elif word:
        (length,) = struct.unpack("!I", control.recv(4, socket.MSG_WAITALL))
        for module in control.recv(length, socket.MSG_WAITALL).decode().split():
            with contextlib.suppress(Exception):  # whoever needs it gets the exception in a rank
                importlib.import_module(module)
    return bool(word)


def _fork_supervisor(control: socket.socket, connection: int) -> None:
    """Fork a supervisor for one run, which talks to the caller through ``connection``."""
    from rankzero.world import supervisor  # imports torch, which the caller's side must not

    if os.fork() == 0:
        control.close()
        supervisor.serve(socket.socket(fileno=connection))
        os._exit(0)
    os.close(connection)

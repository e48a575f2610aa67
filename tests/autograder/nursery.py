"""Children without a sandbox that are forked from one process, which has imported torch: ranks start in milliseconds.

They run what every child runs, and are killed as every child is; only their start is another. For tests of what
programs do, with ``Sandbox.measure("none")``. Children with walls are started as they are elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.child.main import BACKWARD
from autograder.running import process
from autograder.sandbox import child, interpreter, site_packages

#: Imports torch; then, for each message, forks what runs a child, as an orphan that the grader inherits.
SERVER = f"""
import gc, json, os, runpy, socket, sys
control, path = socket.socket(fileno=int(sys.argv[1])), sys.path[:]
sys.path += sys.argv[2:]
import torch, torch._dynamo, {BACKWARD}
sys.path[:] = path
gc.freeze()
while True:
    message, pipes, _, _ = socket.recv_fds(control, 65536, 3)
    if not message:
        os._exit(0)
    read, write = os.pipe()
    if os.fork() == 0:
        if pid := os.fork():
            os.write(write, str(pid).encode())
            os._exit(0)
        os.setsid()
        asked = json.loads(message)
        for place, pipe in enumerate(pipes):
            os.dup2(pipe, place)
        for descriptor in (*pipes, read, write, control.detach()):
            os.close(descriptor)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv[:] = [asked["file"]]
        runpy.run_path(asked["file"], run_name="__main__")
        os._exit(0)
    os.wait()
    control.send(os.read(read, 32))
    for descriptor in (*pipes, read, write):
        os.close(descriptor)
"""

#: The walls behind which programs of many ranks are judged, for a fixture's ``params``. ``make proof`` adds those of a
#: sandbox: one process forks the children that have none, and another runs the rest beside it.
WALLS = (
    "none",
    pytest.param("best", marks=[pytest.mark.proof(part="systems"), pytest.mark.xdist_group("in a sandbox")]),
)


class Forked:
    """A child, with what the grader asks of a ``subprocess.Popen``."""

    def __init__(self, control: socket.socket, file: str, env: dict[str, str], cwd: str) -> None:
        (requests, write), (read, replies), (prints, errors) = (os.pipe() for _ in range(3))
        asked = json.dumps({"file": file, "env": env, "cwd": cwd}).encode()
        socket.send_fds(control, [asked], [requests, replies, errors])
        self.pid = int(control.recv(32))
        for descriptor in (requests, replies, errors):
            os.close(descriptor)
        self.stdin, self.stdout, self.stderr = open(write, "wb", 0), open(read, "rb", 0), open(prints, "rb", 0)  # noqa: SIM115
        self._ends, self._status = os.pidfd_open(self.pid), None

    def kill(self) -> None:
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        if self._status is None:
            if not select.select([self._ends], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("a child", timeout or 0.0)
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._ends)
        return self._status


@contextlib.contextmanager
def opened() -> Iterator[socket.socket | None]:
    """The connection to the process from which children are forked; None on systems other than Linux."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    process.become_subreaper()
    control, theirs = socket.socketpair()
    command = [interpreter(), "-I", "-S", "-B", "-c", SERVER, str(theirs.fileno()), *site_packages()]
    server = subprocess.Popen(command, pass_fds=[theirs.fileno()], env={"OMP_NUM_THREADS": "1"}, start_new_session=True)
    theirs.close()
    yield control
    control.close()
    server.wait()


@contextlib.contextmanager
def forking(control: socket.socket | None) -> Iterator[None]:
    """Until the block ends, children of this process that have no walls are forked."""

    def start(argv: tuple[str, ...], **options: Any) -> Any:
        if control is None or argv != (interpreter(), "-I", "-S", "-B", str(child())):
            return subprocess.Popen(argv, **options)
        return Forked(control, argv[-1], options["env"], options["cwd"])

    stand_in = SimpleNamespace(**vars(subprocess) | {"Popen": start})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "subprocess", stand_in)
        yield

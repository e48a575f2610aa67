"""Where ranks are born: one process that has imported torch already, and forks in milliseconds.

Importing torch takes seconds, forking a process that has imported it takes milliseconds. So the first run starts one
*nursery*, which imports once and then waits. For each run the caller hands it one end of a socket pair; the nursery
forks a *warden* (:mod:`rankzero.warden`), which owns that run, and goes back to waiting. It ends when the caller does.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

ROOT = str(Path(__file__).parent.parent)
FIRST = ("cloudpickle", "numpy", "torch", "torch.distributed", "torch.nn.parallel", "rankzero.rank", "rankzero.warden")
#: What a backward pass with a given gradient, optimizers and sharding pull in.
LATER = (
    "torch.fx.experimental.symbolic_shapes",
    "torch._dynamo",
    "torch.distributed.tensor",
    "torch.distributed.fsdp",
)


class Nursery:
    """The caller's side: starts the process, opens runs, ends it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.control, theirs = socket.socketpair()
        with theirs:
            code = (
                f"import sys; sys.path[:] = {_search_path()!r}; import rankzero.nursery as n; n.main({theirs.fileno()})"
            )
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
        """Whether this process may still open runs with it."""
        return self.owner == os.getpid() and self.process.poll() is None

    def open_run(self) -> socket.socket:
        """A socket whose other end is a fresh warden's."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self.control, [b"+"], [theirs.fileno()])
        return ours

    def last_words(self) -> str:
        """Why the process ended, if it did: the last line it wrote."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1)
        if self.process.returncode is None or self.process.stderr is None:
            return ""
        return (self.process.stderr.read().decode(errors="replace").strip().splitlines() or [""])[-1]

    def close(self) -> None:
        """End the process, and with it every run that is still under way."""
        self.control.close()
        if self.owner == os.getpid():
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            if self.process.stderr is not None:
                self.process.stderr.close()


_lock = threading.Lock()
_nursery: Nursery | None = None


def home() -> Nursery:
    """This process's nursery, started if need be."""
    global _nursery
    with _lock:
        if _nursery is None or not _nursery.alive:
            _nursery = Nursery()
        return _nursery


def close() -> None:
    """End this process's nursery; the next run starts another."""
    global _nursery
    with _lock:
        if _nursery is not None:
            _nursery.close()
        _nursery = None


def _forget() -> None:
    """A fork of the caller starts its own nursery; its copies of the caller's sockets are closed."""
    global _lock, _nursery
    _lock = threading.Lock()
    if _nursery is not None:
        _nursery.control.close()
    _nursery = None


atexit.register(close)
os.register_at_fork(after_in_child=_forget)


def fixed_environment(given: Mapping[str, str]) -> dict[str, str]:
    """What every rank finds set: one thread, no lottery of hashes, the loopback interface, no chatter."""
    loopback = next((name for _, name in socket.if_nameindex() if name.startswith("lo")), "lo")
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    return {
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(threads, "1"),
        "GLOO_SOCKET_IFNAME": given.get("GLOO_SOCKET_IFNAME", loopback),
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        "TOKENIZERS_PARALLELISM": "false",
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # macOS: nothing of its runtime has run before the fork
    }


def _search_path() -> list[str]:
    """The caller's search path without its own folder, whose files could hide the library's."""
    here = {"", os.getcwd()}
    return [*(place for place in sys.path if place not in here), ROOT]


def main(control_fd: int) -> None:
    """The nursery's life: import, then fork a warden for each run until the caller is gone.

    The heavier half of the library is imported between runs, while nobody waits: it would cost each rank that builds an
    optimizer the best part of a second.
    """
    caller = os.getppid()
    control = socket.socket(fileno=control_fd)
    for module in FIRST:
        importlib.import_module(module)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # wardens need no burial
    later = list(LATER)
    gc.collect()
    while os.getppid() == caller:
        gc.freeze()  # the ranks' collectors leave these pages alone, so that they stay shared
        if select.select([control], [], [], 0.5 if later else 2.0)[0]:
            if not _fork_warden(control):
                break
        elif later:
            importlib.import_module(later.pop(0))
    os._exit(0)


def _fork_warden(control: socket.socket) -> bool:
    """One run; False when the caller has closed its end."""
    from rankzero import warden

    word, fds, *_ = socket.recv_fds(control, 1, 1)
    if not word:
        return False
    if os.fork() == 0:
        control.close()
        warden.serve(socket.socket(fileno=fds[0]))
        os._exit(0)
    os.close(fds[0])
    return True

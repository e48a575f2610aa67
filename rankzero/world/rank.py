"""One rank: a process that joins the group, runs the function, reports the result, and waits until it is killed.

It is forked by :mod:`rankzero.world.supervisor` and has one thread, a session and an output of its own, and random
generators seeded with its rank (``random`` and NumPy; torch's generator is left as in any new process, the same on all
ranks). Every operation of its group is recorded (:mod:`rankzero.world.recorder`). On SIGUSR1 it dumps its stack and
dies.
"""

from __future__ import annotations

import builtins
import datetime
import faulthandler
import os
import pdb
import random
import re
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np
import torch
import torch.distributed as dist

from rankzero.world import recorder, serialization, source_locations, stillness
from rankzero.world.call_log import Call, CallLog
from rankzero.world.environment import fixed_environment
from rankzero.world.job import Job, RankReport

NO_TIMEOUT = datetime.timedelta(days=7)  # the supervisor enforces the time limit, not PyTorch
CONNECTION_LOST = re.compile(
    r"[Cc]onnection (closed|reset|refused)|Connection was likely closed|Broken pipe|Socket closed"
)
# PyTorch's source lines, addresses and ports.
LIBRARY_DETAILS = re.compile(r"\[(?:enforce fail at )?/[^\]]*\] ?| ?\[[0-9a-f.:]+\]:\d+")


class Refused(ValueError):
    """An argument of the caller's asks for something that this machine does not have."""


def run_rank(
    rank: int, job: Job, folder: Path, connection: socket.socket, output: int, stack: BinaryIO, slot: memoryview
) -> NoReturn:
    """Run the rank and send its report; then wait for the supervisor to kill the process."""
    _set_up(rank, job, output, stack)
    log = CallLog(rank, slot, job.timeout)
    try:
        report = _join_and_run(rank, job, folder, connection, log)
    except BaseException as error:
        report = _raised(error, log)
    report.time, report.events = report.time or time.monotonic(), log.events()
    log.finish()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    serialization.send(connection, report)
    while True:
        signal.pause()


def _set_up(rank: int, job: Job, output: int, stack: BinaryIO) -> None:
    """Set up the rank's output, environment, working directory, import path, arguments and random generators."""
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    faulthandler.enable(stack)
    faulthandler.register(signal.SIGUSR1, stack, chain=True)  # the signal's default action follows: death
    stillness.listen(stack)
    os.environ.clear()
    os.environ.update(job.environment | fixed_environment(job.environment))
    sys.path[:], sys.argv[:] = job.path, job.arguments
    os.chdir(job.folder if Path(job.folder).is_dir() else "/")
    warnings.formatwarning = _format_warning
    warnings.filterwarnings("ignore", message=r"barrier\(\): using the device")
    _take_away_the_terminal()
    random.seed(rank)
    np.random.seed(rank)
    torch.set_num_threads(1)


def _take_away_the_terminal() -> None:
    """A debugger, or a question to the reader, says that a rank has no terminal."""

    def refusal(name: str) -> Callable[..., NoReturn]:
        def refuse(*_: object, **__: object) -> NoReturn:
            raise RuntimeError(f"{name} needs a terminal, and a rank has none: print, or return, what you want to see")

        return refuse

    builtins.input = refusal("input()")
    pdb.set_trace = refusal("pdb.set_trace()")
    dist.breakpoint = refusal("dist.breakpoint()")
    if os.environ.get("PYTHONBREAKPOINT") != "0":
        sys.breakpointhook = refusal("breakpoint()")


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning that names the reader's line instead of a library's."""
    place = source_locations.of_frame(sys._getframe()) or source_locations.Location(filename, lineno)
    return f"{place}: {category.__name__}: {message}\n"


def _join_and_run(rank: int, job: Job, folder: Path, connection: socket.socket, log: CallLog) -> RankReport:
    """Join the group, wait for the common start, and run the function. What it imports by name is recorded as well."""
    recorder.install(log)
    function, arguments = serialization.unpack(job.call)
    _join(rank, job, folder, log)
    connection.sendall(b"+")
    (log.start,) = struct.unpack("!d", connection.recv(8))
    value = function(*arguments)
    ended = time.monotonic()
    try:
        return RankReport("finished", value=serialization.pack(value), time=ended)
    except Exception as error:
        raise TypeError(f"the {type(value).__name__} that rank {rank} returned cannot be sent back: {error}") from error


def _join(rank: int, job: Job, folder: Path, log: CallLog) -> None:
    """Join the default group, of a class that records every call; the ranks meet through a file, without ports."""
    gpus = torch.cuda.device_count() if dist.is_nccl_available() and torch.cuda.is_available() else 0
    backend = job.backend or ("nccl" if gpus >= job.ranks else "gloo")
    if backend == "nccl":
        if gpus < job.ranks:
            raise Refused(f"backend nccl needs a GPU for each rank, got ranks={job.ranks} and {gpus} GPUs")
        torch.cuda.set_device(rank)
    store = dist.FileStore(str(folder / "store"), job.ranks)
    meeting = Call("init_process_group", "init_process_group", (), 0, 0, None, "", time.monotonic())
    with log.waiting(meeting):
        dist.init_process_group(backend, store=store, rank=rank, world_size=job.ranks, timeout=NO_TIMEOUT)


def _raised(error: BaseException, log: CallLog) -> RankReport:
    """The report on an exception: its text, the reader's lines it went through, and the operation it interrupted."""
    text = "".join(traceback.format_exception_only(error))
    broken = log.broken[1] if log.broken and log.broken[0] is error else ""
    return RankReport(
        "raised",
        error=LIBRARY_DETAILS.sub("", text) if broken else text,
        places=[(p.file, p.line, p.function) for p in source_locations.of_traceback(error.__traceback__)],
        lost=broken if CONNECTION_LOST.search(text) else "",
        refused=str(error) if isinstance(error, Refused) else "",
    )

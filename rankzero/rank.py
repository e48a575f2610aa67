"""One rank: a process that joins the group, runs the function, says once what came of it, and waits for its end.

Born by fork from :mod:`rankzero.warden`, it has one thread, a session and an output of its own, and random generators
seeded with its number (``random`` and NumPy; torch's is left as in any fresh process, equal on all ranks). Every
operation of its group is recorded (:mod:`rankzero.recorder`). Asked by a signal, it writes down its stack and dies.
"""

from __future__ import annotations

import datetime
import faulthandler
import os
import random
import re
import signal
import socket
import struct
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
import torch
import torch.distributed as dist

from rankzero import nursery, parcels, places, recorder
from rankzero.calls import Call, Log
from rankzero.warden import Job

NEVER = datetime.timedelta(days=7)  # the warden keeps the time, not the library
LOST = re.compile(r"[Cc]onnection (closed|reset|refused)|Connection was likely closed|Broken pipe|Socket closed")
WHEREABOUTS = re.compile(r"\[/[^\]]*\] ?| ?\[[0-9a-f.:]+\]:\d+")  # the library's source lines, addresses and ports


class Refused(ValueError):
    """What was asked for cannot be had on this machine."""


def live(
    rank: int, job: Job, folder: Path, line: socket.socket, output: int, stack: BinaryIO, slot: memoryview
) -> NoReturn:
    """From birth to the report; the end is the warden's."""
    _furnish(rank, job, output, stack)
    log = Log(rank, slot)
    try:
        report = _work(rank, job, folder, line, log)
    except BaseException as error:
        report = _raised(error, log)
    report |= {"time": time.monotonic(), "events": log.events()}
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    parcels.send(line, report)
    while True:
        signal.pause()


def _furnish(rank: int, job: Job, output: int, stack: BinaryIO) -> None:
    """The rank's own output, environment, folder, search path, arguments and random numbers."""
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    os.close(output)
    sys.stdout = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    faulthandler.enable(stack)
    faulthandler.register(signal.SIGUSR1, stack, chain=True)  # then comes the signal's default: death
    os.environ.clear()
    os.environ.update(job.environment | nursery.fixed_environment(job.environment))
    sys.path[:], sys.argv[:] = job.path, job.arguments
    os.chdir(job.folder if Path(job.folder).is_dir() else "/")
    warnings.formatwarning = _warning
    warnings.filterwarnings("ignore", message=r"barrier\(\): using the device")
    random.seed(rank)
    np.random.seed(rank)
    torch.set_num_threads(1)


def _warning(message: Any, category: type[Warning], filename: str, lineno: int, line: str | None = None) -> str:
    """A warning under the reader's line, not the library's."""
    place = places.of_frame(sys._getframe()) or places.Place(filename, lineno)
    return f"{place}: {category.__name__}: {message}\n"


def _work(rank: int, job: Job, folder: Path, line: socket.socket, log: Log) -> dict[str, Any]:
    """Meet the others, start with them, run the function."""
    function, arguments = parcels.unpack(job.call)
    _join(rank, job, folder, log)
    line.sendall(b"+")
    (log.start,) = struct.unpack("!d", line.recv(8))
    value = function(*arguments)
    try:
        return {"state": "finished", "value": parcels.pack(value)}
    except Exception as error:
        raise TypeError(f"the {type(value).__name__} that rank {rank} returned cannot be sent back: {error}") from error


def _join(rank: int, job: Job, folder: Path, log: Log) -> None:
    """Make the group, a recording one, over a file: no port, no name of a host."""
    gpus = torch.cuda.device_count() if dist.is_nccl_available() and torch.cuda.is_available() else 0
    backend = job.backend or ("nccl" if gpus >= job.ranks else "gloo")
    if backend == "nccl":
        if gpus < job.ranks:
            raise Refused(f"backend nccl needs a GPU for each rank, got ranks={job.ranks} and {gpus} GPUs")
        torch.cuda.set_device(rank)
    recorder.install(log)
    store = dist.FileStore(str(folder / "store"), job.ranks)
    meeting = Call("init_process_group", "init_process_group", (), 0, 0, None, "", time.monotonic())
    with log.waiting(meeting):
        dist.init_process_group(backend, store=store, rank=rank, world_size=job.ranks, timeout=NEVER)


def _raised(error: BaseException, log: Log) -> dict[str, Any]:
    """An exception in plain words: its text, the reader's lines it went through, the operation it broke off."""
    text = "".join(traceback.format_exception_only(error))
    broken = log.broken[1] if log.broken and log.broken[0] is error else ""
    return {
        "state": "raised",
        "error": WHEREABOUTS.sub("", text) if broken else text,
        "places": [tuple(place) for place in places.of_traceback(error.__traceback__)],
        "lost": broken if LOST.search(text) else "",
        "refused": str(error) if isinstance(error, Refused) else "",
    }

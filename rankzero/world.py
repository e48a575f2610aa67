"""Worlds of real processes: run one function as N ranks of a ``torch.distributed`` group, from anywhere.

>>> from rankzero import world
>>> def hello():
...     import torch.distributed as dist
...     print("I am rank", dist.get_rank())
...     return dist.get_rank() ** 2
>>> run = world.run(hello, ranks=3)
>>> run.values
(0, 1, 4)
>>> print(run.text)
I am rank 0
I am rank 1
I am rank 2

The function may stand in a notebook cell, a script without a ``__main__`` guard, a module or a test. A process that has
imported torch already (:mod:`rankzero.nursery`) forks a warden for the run, and the warden (:mod:`rankzero.warden`)
forks the ranks (:mod:`rankzero.rank`), which meet in a temporary file, without ports. Every operation a rank calls is
recorded (:mod:`rankzero.recorder`). A world cannot hang: at the deadline, or when a rank dies or raises, every process
is ended and :class:`WorldError` says what each rank was doing (:mod:`rankzero.reports`).

This module does not import torch; it comes with the first tensor that a rank returns.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankzero import nursery, parcels, torch_version, warden
from rankzero.events import Event, Ledger
from rankzero.reports import Report, WorldError, explain, interrupted

__all__ = ["MOST_RANKS", "Report", "World", "WorldError", "prepare", "run"]

MOST_RANKS = 64
UNHEARD = 30.0  # seconds after a run's own limits before its warden is given up
BACKENDS = (None, "gloo", "nccl")
CHATTER = re.compile(r"\[Gloo\] Rank \d+ is connected|\[[WEIF]\d{4} \d\d:\d\d")  # the library's own lines


@dataclass(frozen=True)
class World:
    """What a run of ``ranks`` processes left.

    Attributes:
        values: what the function returned, by rank; tensors are plain copies on the CPU.
        lines: what each rank printed, standard output and warnings, by rank; cut at 1 MiB for each rank.
        events: every operation that was called, by rank and then in the order of the calls.
        ranks: how many processes ran.
        seconds: from the common start, after the ranks had met, to the last one's end.
    """

    values: tuple[Any, ...]
    lines: tuple[tuple[str, ...], ...]
    events: tuple[Event, ...]
    ranks: int
    seconds: float

    @property
    def text(self) -> str:
        """All printed lines, in rank order."""
        return "\n".join(line for lines in self.lines for line in lines)

    def ledger(self) -> Ledger:
        """Bytes by rank and operation."""
        return Ledger(self.events, self.ranks)


def prepare() -> None:
    """Start the process that ranks are forked from, and return at once: it imports torch while the caller does.

    Nobody has to: the first :func:`run` starts it too, and waits.

    Raises:
        RuntimeError: the installed torch is too old.
    """
    torch_version.require()
    nursery.home()


def run(
    fn: Callable[..., Any],
    *args: Any,
    ranks: int = 4,
    timeout: float = 60.0,
    backend: str | None = None,
    withheld: int | None = None,
) -> World:
    """Run ``fn(*args)`` in ``ranks`` processes joined in one group, and return what they returned, printed and called.

    Args:
        fn: what every rank runs; it asks ``torch.distributed`` for its rank.
        args: handed to ``fn`` on every rank, each rank its own copy.
        ranks: how many processes; from 1 to 64.
        timeout: seconds that ``fn`` may take, counted from the common start; positive.
        backend: ``"gloo"`` or ``"nccl"``; None takes NCCL when there is a GPU for each rank, else Gloo.
        withheld: a rank that is never started, to see how the others wait for it until the time is over.

    Raises:
        ValueError: an argument is outside its range, or NCCL was asked for without enough GPUs.
        RuntimeError: the installed torch is too old.
        WorldError: a rank raised or died, or the time was over; all processes have been ended.
        KeyboardInterrupt: it was stopped by hand; all processes have been ended.
    """
    _check(fn, ranks, timeout, backend, withheld)
    torch_version.require()
    job = _job(parcels.pack((fn, args)), ranks, float(timeout), backend, withheld)
    try:
        outcome = _carry_out(job)
    except KeyboardInterrupt:
        raise interrupted(ranks) from None
    lines = tuple(_lines(one) for one in outcome.ranks)
    if outcome.why != "finished":
        _refuse(outcome.ranks)
        raise explain(outcome.why, outcome.ranks, timeout, lines)
    reports = [one.report for one in outcome.ranks if one.report is not None]
    return World(
        values=tuple(parcels.unpack(report["value"]) for report in reports),
        lines=lines,
        events=tuple(Event(*row) for report in reports for row in report["events"]),
        ranks=ranks,
        seconds=outcome.seconds,
    )


def _check(fn: Any, ranks: Any, timeout: Any, backend: Any, withheld: Any) -> None:
    if not callable(fn):
        raise TypeError(f"fn must be callable, got {fn!r}")
    if not isinstance(ranks, int) or isinstance(ranks, bool) or not 1 <= ranks <= MOST_RANKS:
        raise ValueError(f"ranks must be an integer from 1 to {MOST_RANKS}, got {ranks!r}")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be a positive number of seconds, got {timeout!r}")
    if backend not in BACKENDS:
        raise ValueError(f"backend must be 'gloo', 'nccl' or None, got {backend!r}")
    if withheld is not None and (ranks < 2 or type(withheld) is not int or not 0 <= withheld < ranks):
        raise ValueError(f"withheld must be one of at least 2 ranks or None, got {withheld!r} with ranks={ranks}")


def _job(call: bytes, ranks: int, timeout: float, backend: str | None, withheld: int | None) -> warden.Job:
    """The packed call in this process's surroundings: folder, search path, arguments, environment."""
    here = os.getcwd()
    path = [place or here for place in sys.path]
    return warden.Job(call, ranks, timeout, backend, here, path, list(sys.argv), dict(os.environ), withheld)


def _carry_out(job: warden.Job) -> warden.Outcome:
    """Hand the job to a fresh warden and wait for its answer. Interrupted, end every process first."""
    home = nursery.home()
    try:
        with home.open_run() as line:
            return _answer(job, line)
    except (EOFError, ConnectionError, TimeoutError):
        reason = home.last_words() or "the process that watches over the ranks has ended"
        raise WorldError(f"the world could not run: {reason}") from None


def _answer(job: warden.Job, line: socket.socket) -> warden.Outcome:
    line.settimeout(warden.STARTING + job.timeout + UNHEARD)
    try:
        parcels.send(line, tuple(job))
        return warden.Outcome(*parcels.receive(line))
    except BaseException:
        _end(line)
        raise


def _end(line: socket.socket) -> None:
    """Tell the warden that nobody listens any more, and wait until it has ended all ranks and itself."""
    with contextlib.suppress(OSError):
        line.shutdown(socket.SHUT_WR)
        line.settimeout(5.0)
        while line.recv(2**20):
            pass


def _refuse(ranks: list[warden.Found]) -> None:
    for one in ranks:
        if one.report and one.report.get("refused"):
            raise ValueError(one.report["refused"])


def _lines(found: warden.Found) -> tuple[str, ...]:
    """What a rank printed, without the library's chatter."""
    printed = found.output.decode(errors="replace").removesuffix("\n")
    lines = [line for line in printed.split("\n") if not CHATTER.match(line)] if printed else []
    if found.dropped:
        lines.append(f"... cut after {warden.OUTPUT_LIMIT:,} bytes; {found.dropped:,} more were printed")
    return tuple(lines)

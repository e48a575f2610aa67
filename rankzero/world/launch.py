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

The function may be defined in a notebook cell, a script without a ``__main__`` guard, a module or a test. A process
that has already imported torch (:mod:`rankzero.world.forkserver`) forks a supervisor for the run, and the supervisor
(:mod:`rankzero.world.supervisor`) forks the ranks (:mod:`rankzero.world.rank`), which join their group through a
temporary file, without ports. Every operation a rank calls is recorded (:mod:`rankzero.world.recorder`). A world cannot
hang: at the deadline, when all ranks wait for each other, or when one of them dies or raises, every process is killed
and a :class:`WorldError` says what each rank was doing (:mod:`rankzero.world.reports`).

Importing this module does not import torch; unpacking the first tensor that a rank returns does.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

from rankzero.events import Event
from rankzero.world import forkserver, serialization, systems, torch_version
from rankzero.world.environment import wrong_interface
from rankzero.world.job import START_LIMIT, Backend, Job, Outcome, RankOutcome
from rankzero.world.reports import Report, WorldError, explain, interrupted, returned
from rankzero.world.results import MOST_RANKS, World, check, check_call
from rankzero.world.results import lines as printed

__all__ = ["MOST_RANKS", "Report", "World", "WorldError", "prepare", "run"]

SUPERVISOR_MARGIN = 30.0  # seconds after a run's own limits before the caller stops waiting for the supervisor


def prepare(*modules: str) -> None:
    """Start the process that ranks are forked from, and return at once; it imports torch in the background.

    Calling this is optional: the first :func:`run` starts the process too, and waits for it.

    Args:
        modules: names of modules that the process imports too, so that not every rank has to. They must not change
            while the process lives; one that cannot be imported is left to the ranks.

    It does nothing on a system where no worlds run.

    Raises:
        RuntimeError: the installed torch is too old.
    """
    torch_version.require()
    if systems.can_fork():
        _check_surroundings()
        forkserver.current().preload(modules)


def run(
    fn: Callable[..., Any],
    *args: Any,
    ranks: int = 4,
    timeout: float = 60.0,
    backend: Backend | None = "gloo",
    withheld: int | None = None,
) -> World:
    """Run ``fn(*args)`` in ``ranks`` processes joined in one group, and return what they returned, printed and called.

    Args:
        fn: the function that every rank runs; it asks ``torch.distributed`` for its rank.
        args: passed to ``fn`` on every rank; each rank gets its own copy.
        ranks: number of processes, from 1 to 64.
        timeout: seconds that ``fn`` may take, counted from the common start; positive, at most a week.
        backend: ``"gloo"``, which sends tensors in CPU memory, or ``"nccl"``; None chooses NCCL if there is a GPU for
            each rank, else Gloo.
        withheld: a rank that is never started, to show how the others wait for it until the timeout.

    Raises:
        ValueError: an argument is outside its range, or NCCL was asked for without enough GPUs.
        TypeError: ``fn`` cannot take ``args``, or uses something that cannot be sent to another process; the message
            names it.
        RuntimeError: the installed torch is too old.
        WorldError: a rank raised or died, the ranks wait for each other, or the run timed out; all processes have been
            killed. Or no rank can start here.
        KeyboardInterrupt: the run was interrupted; all processes have been killed.
    """
    check(fn, ranks, timeout, backend, withheld)
    check_call(fn, args)
    torch_version.require()
    _check_surroundings()
    job = _job(serialization.pack_call(fn, args), ranks, float(timeout), backend, withheld)
    try:
        outcome = _execute(job)
    except KeyboardInterrupt:
        raise interrupted(ranks) from None
    lines = tuple(printed(one) for one in outcome.ranks)
    if outcome.ending != "finished":
        _raise_refusal(outcome.ranks)
        raise explain(outcome.ending, outcome.ranks, timeout, lines)
    reports = [one.report for one in outcome.ranks if one.report is not None]
    return World(
        values=returned(reports, lines),
        lines=lines,
        events=tuple(Event(*row) for report in reports for row in report.events),
        ranks=ranks,
        seconds=outcome.seconds,
    )


def _check_surroundings() -> None:
    """Refuse what would keep every rank from starting.

    Raises:
        WorldError: this system cannot fork, the working folder is gone, or Gloo is sent to an interface that is not
            there.
    """
    if not systems.can_fork():
        raise WorldError(systems.WITHOUT_FORK)
    try:
        os.getcwd()
    except FileNotFoundError:
        gone = "the working folder of this process has been deleted: go to another with os.chdir, or restart the kernel"
        raise WorldError(gone) from None
    if reason := wrong_interface(os.environ):
        raise WorldError(reason)


def _job(call: bytes, ranks: int, timeout: float, backend: Backend | None, withheld: int | None) -> Job:
    """The pickled call, with this process's folder, import path, arguments and environment."""
    here = os.getcwd()
    path = [place or here for place in sys.path]
    return Job(call, ranks, timeout, backend, here, path, list(sys.argv), dict(os.environ), withheld)


def _execute(job: Job) -> Outcome:
    """Send the job to a new supervisor and wait for its answer; on an interrupt, all its processes are killed first."""
    server = forkserver.current()
    try:
        with server.open_run() as connection:
            return _answer(job, connection)
    except (EOFError, ConnectionError, TimeoutError):
        reason = server.exit_reason() or "the supervisor of its ranks has ended"
        raise WorldError(f"the world could not run: {reason}") from None


def _answer(job: Job, connection: socket.socket) -> Outcome:
    connection.settimeout(START_LIMIT + job.timeout + SUPERVISOR_MARGIN)
    try:
        serialization.send(connection, tuple(job))
        return Outcome(*serialization.receive(connection))
    except BaseException:
        _end_run(connection)
        raise


def _end_run(connection: socket.socket) -> None:
    """Tell the supervisor that the caller has stopped listening, and wait until it has killed all ranks and exited."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(5.0)
        while connection.recv(2**20):
            pass


def _raise_refusal(ranks: list[RankOutcome]) -> None:
    """Raise the ValueError with which a rank refused the caller's arguments, if any did."""
    for outcome in ranks:
        if outcome.report and outcome.report.refused:
            raise ValueError(outcome.report.refused)

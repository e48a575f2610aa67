"""Deadlines for children that do not count time taken by a busy host.

When other programs use every processor, a child is ready to run but has to wait for its turn. Linux records that time
for every process (``/proc/PID/schedstat``), and deadlines are extended by it. A child that sleeps, or waits for
something that never comes, is not ready to run, so its deadline stays where it is.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

#: The longest extended time, as a multiple of the original one. Without a limit, processes of a submission that compete
#: with each other could extend their deadline forever.
MAX_FACTOR = 10.0
#: The share of the time after which the host is first measured; nearly every answer comes earlier.
FIRST_LOOK = 0.1
#: The most processes of one child that are measured.
MAX_PROCESSES = 32
#: The shortest time worth another wait, seconds.
MIN_WAIT = 0.01


class Deadline:
    """The time limit of some processes: ``seconds`` by the clock of ``time.monotonic``, extended for a busy host.

    Attributes:
        until: when to stop waiting and call :meth:`extend`.
        extension: seconds by which the limit has been extended so far.
    """

    def __init__(self, pids: Iterable[int], seconds: float) -> None:
        self.pids, self.seconds, self.extension = tuple(pids), seconds, 0.0
        self._began = time.monotonic()
        self._before: float | None = None
        self.until = self._began + FIRST_LOOK * seconds

    @property
    def passed(self) -> bool:
        """Whether :attr:`until` has passed."""
        return time.monotonic() >= self.until

    def extend(self) -> bool:
        """Set :attr:`until` to the end of the time limit, extended by what the host has taken; whether time is left."""
        lost = time_without_processor(self.pids)
        if self._before is None:
            self._before = lost
        self.extension = min(max(self.extension, lost - self._before), (MAX_FACTOR - 1) * self.seconds)
        self.until = self._began + self.seconds + self.extension
        return self.until > time.monotonic() + MIN_WAIT


def time_without_processor(pids: Iterable[int]) -> float:
    """Seconds for which these processes, their descendants and this thread were ready to run but had no processor.

    0.0 if the host does not record it.
    """
    processes = [f"/proc/{one}/schedstat" for pid in pids for one in process_tree(pid)]
    return sum(map(_delay, (*processes, "/proc/thread-self/schedstat")))


def process_tree(pid: int) -> list[int]:
    """A process and its descendants, as far as the host shows them."""
    result: list[int] = []
    todo = [pid]
    while todo and len(result) < MAX_PROCESSES:
        one = todo.pop(0)
        result.append(one)
        with contextlib.suppress(OSError, ValueError):
            todo += map(int, Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii").split())
    return result


def _delay(file: str) -> float:
    """The second number of a ``schedstat`` file, in seconds."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            return int(os.read(descriptor, 100).split()[1]) / 1e9
        finally:
            os.close(descriptor)
    except (OSError, ValueError, IndexError):
        return 0.0

"""How long a child is waited for. What a busy host takes away from it is not its fault, and does not count.

On a host where others use every processor, a child is ready to run and waits for its turn. Linux counts that time for
every process (``/proc/PID/schedstat``), and a deadline is moved by it. A child that sleeps, or waits for what never
comes, is not ready to run: its time ends when it always did.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable
from pathlib import Path

#: How many times its time a deadline is moved at most: processes of a submission can also wait for each other.
MOST = 10.0
#: The share of the time after which waiting is measured. Nearly every answer comes before.
EARLY = 0.1
#: Processes of one child that are looked at.
FAMILY = 32
#: Least time by which it is worth to wait again, seconds.
LEAST = 0.01


class Patience:
    """A deadline for what some processes must do in ``seconds``, as the clock of ``time.monotonic`` counts them.

    Attributes:
        deadline: until when to wait; then ask :meth:`lasts`.
        excused: seconds by which the time has been moved.
    """

    def __init__(self, pids: Iterable[int], seconds: float) -> None:
        self.pids, self.seconds, self.excused = tuple(pids), seconds, 0.0
        self._began = time.monotonic()
        self._before: float | None = None
        self.deadline = self._began + EARLY * seconds

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def lasts(self) -> bool:
        """Whether there is time left after the deadline; then the deadline is later."""
        lost = waited(self.pids)
        if self._before is None:
            self._before = lost
        self.excused = min(max(self.excused, lost - self._before), (MOST - 1) * self.seconds)
        self.deadline = self._began + self.seconds + self.excused
        return self.deadline > time.monotonic() + LEAST


def waited(pids: Iterable[int]) -> float:
    """Seconds that processes, what they started, and this thread were ready to run and had no processor.

    0.0 where the host does not say.
    """
    processes = [f"/proc/{one}/schedstat" for pid in pids for one in family(pid)]
    return sum(map(_delay, (*processes, "/proc/thread-self/schedstat")))


def family(pid: int) -> list[int]:
    """A process and what it has started; as much of it as the host shows."""
    found: list[int] = []
    todo = [pid]
    while todo and len(found) < FAMILY:
        one = todo.pop(0)
        found.append(one)
        with contextlib.suppress(OSError, ValueError):
            todo += map(int, Path(f"/proc/{one}/task/{one}/children").read_text(encoding="ascii").split())
    return found


def _delay(file: str) -> float:
    """The second number of a ``schedstat``, in seconds."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            return int(os.read(descriptor, 100).split()[1]) / 1e9
        finally:
            os.close(descriptor)
    except (OSError, ValueError, IndexError):
        return 0.0

"""Process lifetimes: dying with the parent, adopting orphans, and killing every descendant.

Linux supports all three. Elsewhere only the ranks' process groups are killed, so a process that a rank started in a
session of its own may outlive the run.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36  # PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER of <sys/prctl.h>


def die_with_parent() -> None:
    """Have the system kill this process when its parent ends, however it ends."""
    _process_control(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make descendants whose parent dies children of this process."""
    _process_control(CHILD_SUBREAPER, 1)


def _process_control(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def end_descendants(groups: Iterable[int], living: Iterable[int]) -> None:
    """Kill these process groups and these children, then every other child of this process, until none is left.

    The other children are orphans that the process has adopted.
    """
    living = list(living)
    for kill, numbers in ((os.killpg, groups), (os.kill, living)):
        for number in numbers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(number, signal.SIGKILL)
    for child in living:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
    with contextlib.suppress(ChildProcessError):  # raised when there is no child left
        while True:
            if os.waitpid(-1, os.WNOHANG)[0]:
                continue
            for child in children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)  # the dead child's own children are ours now, so look again


def children() -> list[int]:
    """Process ids of this process's children; empty on systems without ``/proc``."""
    return [process for process, parent in parents() if parent == os.getpid()]


def parents() -> Iterator[tuple[int, int]]:
    """The id of every process and that of its parent; nothing on systems without ``/proc``."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield int(stat.parent.name), int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])

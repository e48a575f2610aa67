"""Runaways: processes that left their session. Without namespaces, the nearest subreaper inherits them: the grader."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from typing import Protocol

PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 36, 37


class HasPid(Protocol):
    """Anything with a process id."""

    pid: int


#: The children of this grader that are still running, so that only runaways are killed.
ALIVE: set[HasPid] = set()

#: Held while a child starts and while runaways are killed: a child that is not in ``ALIVE`` yet looks like a runaway.
STARTING = threading.Lock()


def become_subreaper() -> None:
    """Inherit the orphans of our children (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def subreaping() -> bool:
    """Whether this process inherits orphans. It then also has to reap those of children in their own namespaces."""
    answer = ctypes.c_int()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def _fields(pid: int | str, file: str, separator: str) -> dict[str, str]:
    """A file of ``/proc`` as a dictionary; empty when the process is gone."""
    try:
        with open(f"/proc/{pid}/{file}", encoding="utf-8", errors="replace") as lines:
            return dict(line.rstrip("\n").split(separator, 1) for line in lines if separator in line)
    except OSError:
        return {}


def _mark(pid: int | str) -> tuple[str | None, str | None]:
    """What descendants of a child inherit and cannot change: no new privileges, and the hard limit of file sizes."""
    limit = _fields(pid, "limits", "file size").get("Max ", "").split()
    return _fields(pid, "status", ":\t").get("NoNewPrivs"), limit[1] if len(limit) > 1 else None


def _children(pid: int | str) -> list[int]:
    """Process ids of the children of a process."""
    result: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                result += map(int, file.read().split())
    return result


def _runaways() -> list[int]:
    """The orphans that we inherited and that carry the mark of a child, with all that they started."""
    living = {process.pid for process in ALIVE.copy()}
    orphans = [pid for pid in _children("self") if pid not in living]
    if not orphans:
        return []
    mine = _mark("self")
    return [one for pid in orphans if _mark(pid) not in (mine, (None, None)) for one in family(pid)]


def family(pid: int) -> list[int]:
    """A process and everything that descends from it."""
    found = [pid]
    for member in found:
        found += _children(member)
    return found


def end_runaways(seconds: float = 2.0) -> None:
    """Kill and reap the orphans of children that have been ended, until there are none."""
    deadline = time.monotonic() + seconds
    while sys.platform == "linux" and time.monotonic() < deadline:
        with STARTING:
            found = _runaways()
            for pid in found:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            for pid in found:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)
        if not found:
            return

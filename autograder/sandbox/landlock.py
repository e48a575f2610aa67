"""Landlock: the kernel lets a process give up the files it does not need (Linux 5.13 or later; no privilege needed).

It can allow a folder but not take a part of it back, so a folder that holds packages of ours is allowed entry by entry.
Landlock closes what is in files and folders. Whether a path exists, its size and its date can still be asked.
See landlock(7) and ``Documentation/userspace-api/landlock.rst``.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path

from autograder.bubblewrap import INSIDE
from autograder.launch import HERE, Launch, Layer, child, interpreter, ours, prefixes, shown, trial

#: Devices that a program may use, and files in which libraries look the processor up.
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
PROCESSOR = ("/proc/cpuinfo", "/sys/devices/system/cpu")


class Landlock(Layer):
    """Files are closed: the interpreter can be read, the working folder written, and nothing can be executed."""

    name = "landlock"
    guards = frozenset({"files"})

    def measure(self) -> str:
        if not hasattr(os, "O_PATH"):
            return "it is a part of Linux"
        said = trial({"landlock": allowed(())}, TRIAL.format(closed=[str(HERE / "launch.py"), str(HERE), "/etc"]))
        return "" if said == "closed closed closed works" else said.removeprefix("child_walls.Down: landlock: ")

    def apply(self, launch: Launch) -> Launch:
        return launch.with_walls(landlock=allowed(launch.packages))


@functools.cache
def allowed(packages: tuple[str, ...]) -> dict[str, list[str]]:
    """What a child that sees ``packages`` may do with files, as the child's side wants it. ``.`` is its folder."""
    folders = [os.path.realpath(folder) for folder in shown(packages)]
    installed = {str(path) for prefix in prefixes() for path in Path(prefix, "lib").glob("python3*/*-packages")}
    hidden = {os.path.realpath(path) for path in ours({*installed, *map(os.path.realpath, packages)})}
    read, listed = _parts(folders, hidden)
    return {
        "read": [*read, interpreter(), str(child().parent), INSIDE, *PROCESSOR],
        "list": listed,
        "use": list(DEVICES),
        "write": ["."],
    }


def _parts(paths: Iterable[str], hidden: set[str]) -> tuple[list[str], list[str]]:
    """Paths to be read whole, and folders to be listed: all of ``paths`` but what is ``hidden``."""
    read: list[str] = []
    listed: list[str] = []
    for path in paths:
        if path in hidden:
            continue
        if not any(secret.startswith(path + "/") for secret in hidden):
            read.append(path)
            continue
        listed.append(path)
        entries = (entry.path for entry in os.scandir(path) if not entry.is_symlink())  # a link is what it leads to
        for found, more in zip((read, listed), _parts(entries, hidden), strict=True):
            found += more
    return read, listed


#: What must be closed, and what must work on.
TRIAL = """
import os
for path in {closed!r}:
    try:
        os.listdir(path) if os.path.isdir(path) else open(path).close()
        print("open", end=" ")
    except PermissionError:
        print("closed", end=" ")
open("x", "w").close()
os.remove("x")
import colorsys
print("works")
"""

"""Landlock: the kernel lets a process give up the files it does not need (Linux 5.13 or later; no privilege needed).

Landlock can allow a folder but not exclude a part of it, so a folder that holds packages of ours is allowed entry by
entry. It protects the contents of files and folders; a child can still find out whether a path exists, its size and its
date.
See landlock(7) and ``Documentation/userspace-api/landlock.rst``.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox.bubblewrap import INSIDE
from autograder.sandbox.launch import HERE, Guard, Launch, Layer, child, interpreter, ours, prefixes, shown, trial

#: Devices that a program may use, and files from which libraries learn about the processor.
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
PROCESSOR = ("/proc/cpuinfo", "/sys/devices/system/cpu")


class Landlock(Layer):
    """The child can read the interpreter and write in its working folder; it opens no other file and executes none."""

    name = "landlock"
    guards: frozenset[Guard] = frozenset({"files"})

    def measure(self) -> str:
        if not hasattr(os, "O_PATH"):
            return "only Linux has it"
        said = trial({"landlock": allowed(())}, TRIAL.format(closed=[str(HERE / "files.py"), str(HERE), "/etc"]))
        return "" if said == "closed closed closed works" else said.removeprefix("child_walls.Down: landlock: ")

    def apply(self, launch: Launch) -> Launch:
        return launch.with_walls(landlock=allowed(launch.packages))


@functools.cache
def allowed(packages: tuple[str, ...]) -> dict[str, list[str]]:
    """The file rules, as ``child/walls.py`` takes them, for a child that sees ``packages``; ``.`` is its folder."""
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
    """``paths`` without what is ``hidden``: paths that may be read whole, and folders that may only be listed."""
    read: list[str] = []
    listed: list[str] = []
    for path in paths:
        if path in hidden:
            continue
        if not any(secret.startswith(path + "/") for secret in hidden):
            read.append(path)
            continue
        listed.append(path)
        entries = (entry.path for entry in os.scandir(path) if not entry.is_symlink())  # rules follow links
        for found, more in zip((read, listed), _parts(entries, hidden), strict=True):
            found += more
    return read, listed


#: Tries what must be closed, and what must still work.
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

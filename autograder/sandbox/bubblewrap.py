"""Bubblewrap: namespaces of its own for files, network, processes and users, by the ``bwrap`` program."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.launch import HERE, Launch, Layer, child, interpreter, ours, prefixes, shown

#: Where the child's files stand inside.
INSIDE = "/grader"


class Bubblewrap(Layer):
    """A root of its own, with the interpreter and the system's libraries, and nothing of the network or of others."""

    name = "bubblewrap"
    guards = frozenset({"files", "network", "processes"})
    program = ""
    mount_proc: tuple[str, ...] = ()

    def measure(self) -> str:
        self.program = shutil.which("bwrap") or ""
        if not self.program:
            return "the program bwrap is not installed"
        reason = ""
        for proc in (("--proc", "/proc"), ()):
            self.mount_proc = proc
            reason = self._try()
            if not reason:
                return ""
        return reason

    def _try(self) -> str:
        """Start the interpreter inside; it must find no network, no neighbour and none of the project's files."""
        probe = (
            "import os, sys; hidden = not any(map(os.path.exists, sys.argv[1:])); "
            "alone = not os.path.exists('/proc/1') or len([p for p in os.listdir('/proc') if p.isdigit()]) < 4; "
            "sys.stdout.write(f'{hidden} {alone} {os.getuid()}')"
        )
        argv = (interpreter(), "-I", "-S", "-B", "-c", probe, str(HERE / "sandbox.py"), str(HERE / "bank"))
        launch = self.apply(Launch(argv, {}))
        try:
            done = subprocess.run(launch.argv, env={}, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bwrap does not start: {error}"
        if done.stdout == "True True 65534":
            return ""
        return (done.stderr.strip().splitlines() or ["bwrap does not isolate"])[-1]

    def apply(self, launch: Launch) -> Launch:
        flags = ["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"]
        flags += ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "sandbox"]
        for name, value in launch.env.items():
            flags += ["--setenv", name, value]
        flags += ["--size", str(64 << 20), "--tmpfs", "/tmp", "--chdir", "/tmp"]  # before folders that stand in it
        flags += [*_binds(launch.packages), "--dev", "/dev", *self.mount_proc]
        flags += ["--ro-bind", str(child().parent), INSIDE]
        flags += ["--remount-ro", "/dev", "--remount-ro", "/"]
        argv = tuple(f"{INSIDE}/{child().name}" if part == str(child()) else part for part in launch.argv)
        return replace(launch, argv=(self.program, *flags, "--", *argv), inside=True)


@functools.cache
def _binds(packages: tuple[str, ...]) -> tuple[str, ...]:
    """bwrap flags that show the interpreter, the system's libraries and ``packages``, without our own packages."""
    python = interpreter()
    flags = []
    for path in shown(packages):
        flags += ["--ro-bind", path, path]
    for path in sorted(set(_hidden(packages))):
        flags += ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", os.devnull, path]
    return (*flags, "--ro-bind", python, python)


def _hidden(packages: tuple[str, ...]) -> Iterable[str]:
    """What must not be seen although it stands inside a bound folder: other site-packages, and ours in those shown."""
    for prefix in prefixes():
        for folder in Path(prefix, "lib").glob("python3*/*-packages"):
            if str(folder) not in packages:
                yield str(folder)
    yield from ours(packages)

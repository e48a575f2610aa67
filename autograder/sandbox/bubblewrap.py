"""Bubblewrap: the ``bwrap`` program gives a child its own namespaces for files, network, processes and users."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.sandbox.launch import HERE, Guard, Launch, Layer, child, interpreter, ours, prefixes, shown

#: Where the child finds its files inside.
INSIDE = "/grader"


class Bubblewrap(Layer):
    """The child has its own root with the interpreter and the system's libraries, no network and no other process."""

    name = "bubblewrap"
    guards: frozenset[Guard] = frozenset({"files", "network", "processes"})
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
        """Start the interpreter inside: it must see no other process and none of our files. The reason if it does."""
        probe = (
            "import os, sys; hidden = not any(map(os.path.exists, sys.argv[1:])); "
            "alone = not os.path.exists('/proc/1') or len([p for p in os.listdir('/proc') if p.isdigit()]) < 4; "
            "sys.stdout.write(f'{hidden} {alone} {os.getuid()}')"
        )
        argv = (interpreter(), "-I", "-S", "-B", "-c", probe, str(HERE / "files.py"), str(HERE / "bank"))
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
        flags += ["--size", str(64 << 20), "--tmpfs", "/tmp", "--chdir", "/tmp"]  # before folders are mounted in it
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
    """Paths inside the bound folders that must stay hidden: other site-packages, and our own packages."""
    for prefix in prefixes():
        for folder in Path(prefix, "lib").glob("python3*/*-packages"):
            if str(folder) not in packages:
                yield str(folder)
    yield from ours(packages)

"""Control groups: the kernel limits the memory and the processes of a child and of everything that it starts.

We use version 2 where we may write to a folder that has the controllers ``memory`` and ``pids`` (as root, or by
delegation), and version 1 elsewhere. Moving a process into a group takes the kernel some ten milliseconds; moving the
calling thread takes no time, and whatever that thread starts begins in the group. Version 1 allows the second way;
version 2 does not for memory.
See ``Documentation/admin-guide/cgroup-v2.rst`` and ``cgroup-v1/``.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from autograder.sandbox.launch import Guard, Hook, Launch, Layer
from autograder.sandbox.runaways import end_runaways, family
from autograder.starting import Package

MIB = 1 << 20

#: A version of control groups.
Version = Literal[1, 2]

#: Limits of a child by its heaviest package: bytes of memory; processes and threads, bubblewrap's included.
MEMORY: dict[Package, int] = {"": 256 * MIB, "numpy": 512 * MIB, "torch": 4096 * MIB}
PIDS: dict[Package, int] = {"": 16, "numpy": 32, "torch": 128}

#: The files that take the two limits, by version.
FILES: dict[Version, tuple[str, str]] = {1: ("memory.limit_in_bytes", "pids.max"), 2: ("memory.max", "pids.max")}

#: The file that keeps a child from swapping beyond its memory limit, and what to write (None: the memory limit).
SWAP: dict[Version, tuple[str, int | None]] = {1: ("memory.memsw.limit_in_bytes", None), 2: ("memory.swap.max", 0)}

#: The files in which version 2 and version 1 count processes killed for lack of memory.
OOM = ("memory.events", "memory.oom_control")

#: Seconds after which a group is left behind: killed processes need a processor to end.
PATIENCE = 20.0


class Cgroups(Layer):
    """Every child runs in a control group of its own, with limits; the group is killed and removed with the child."""

    name = "cgroups"
    guards: frozenset[Guard] = frozenset({"memory", "number of processes"})

    def __init__(self) -> None:
        self.version: Version = 2
        self.parents: tuple[Path, ...] = ()

    def measure(self) -> str:
        reason = "no group with memory and pids is mounted"
        for version, parents in candidates():
            reason = self._try(version, parents)
            if not reason:
                self.version, self.parents = version, parents
                return ""
        return reason

    def _try(self, version: Version, parents: tuple[Path, ...]) -> str:
        """Put a shell into a group that takes no more processes: it must fail to start one. The reason if it starts."""
        group = Group(version, parents, MEMORY[""], PIDS[""])
        try:
            with group.around():
                shell = subprocess.Popen(
                    ("/bin/sh", "-c", "read go; echo here; (:) && echo started"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={},
                )
            with shell:
                try:
                    group.enter(shell.pid)
                    group.close()
                    said, _ = shell.communicate(b"go\n", timeout=10)
                finally:
                    shell.kill()
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{parents[0]}: {getattr(error, 'strerror', None) or error}"
        finally:
            group.end()
        return "" if said == b"here\n" else "a group does not bound the processes in it"

    def apply(self, launch: Launch) -> Launch:
        group = Group(self.version, self.parents, MEMORY[launch.package], PIDS[launch.package])
        return replace(launch, hooks=(*launch.hooks, group))


def candidates(proc: str = "/proc/self", sys: str = "/sys/fs/cgroup") -> list[tuple[Version, tuple[Path, ...]]]:
    """Folders in which groups could be made, best first, each after its version."""
    try:
        lines = Path(proc, "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    own = {names: path for _, names, path in (line.split(":", 2) for line in lines)}
    result: list[tuple[Version, tuple[Path, ...]]] = []
    for root in (Path(sys), Path(sys, "unified")):
        here = root / own.get("", "/").lstrip("/")
        result += [(2, (folder,)) for folder in (here, here.parent, root) if _gives(folder)]
    paths = tuple(_version_1(sys, own, name) for name in ("memory", "pids"))
    if all(path.is_dir() for path in paths):
        result.append((1, paths))
    return result


def _gives(folder: Path) -> bool:
    """Whether a version 2 group passes the memory and pids controllers on to groups below it."""
    try:
        return {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text(encoding="ascii").split())
    except OSError:
        return False


def _version_1(sys: str, own: dict[str, str], name: str) -> Path:
    """Our own group under a version 1 controller; the controller's root where a container hides the group."""
    path = next((path for names, path in own.items() if name in names.split(",")), "/")
    folder = Path(sys, name, path.lstrip("/"))
    return folder if folder.is_dir() else Path(sys, name)


class Group(Hook):
    """The control group of one child: a folder below each of ``parents``, made when the child starts."""

    def __init__(self, version: Version, parents: Sequence[Path], memory: int, pids: int) -> None:
        # A number alone is not enough: a grader that was killed leaves its groups, and numbers of processes come again.
        name = f"grader-{os.getpid()}-{secrets.token_hex(8)}"
        self.version, self.limits = version, (memory, pids)
        self.folders = [parent / name for parent in parents]

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """Version 1: move this thread into the group and back, so that the child it starts meanwhile begins there."""
        self._make()
        if self.version == 2:
            yield
            return
        try:
            for folder in self.folders:
                _write(folder / "tasks", 0)
            yield
        finally:
            for folder in self.folders:
                _write(folder.parent / "tasks", 0)

    def _make(self) -> None:
        for folder in self.folders:
            folder.mkdir()
        for file, limit in zip(FILES[self.version], self.limits, strict=True):
            _write(self._path(file), limit)
        file, swap = SWAP[self.version]
        with contextlib.suppress(OSError):  # a kernel that does not count swap has no such file
            _write(self.folders[0] / file, self.limits[0] if swap is None else swap)

    def enter(self, pid: int) -> None:
        """Version 2: move the process, and all that it has started, into the group."""
        if self.version == 1:
            return
        for one in family(pid):
            with contextlib.suppress(ProcessLookupError):
                _write(self.folders[0] / "cgroup.procs", one)

    def _path(self, file: str) -> Path:
        """The path of a controller's file: both controllers share one folder, or each has its own."""
        return self.folders[-1 if file.startswith("pids") else 0] / file

    def close(self) -> None:
        """From now on nothing more can be started in the group."""
        _write(self._path("pids.max"), 0)

    def members(self) -> set[int]:
        """The processes in the group."""
        result: set[int] = set()
        for folder in self.folders:
            with contextlib.suppress(OSError):
                result |= {int(pid) for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split()}
        return result

    def verdict(self) -> str:
        """A sentence if the kernel counts a process of the group that it killed for lack of memory; else empty."""
        for file in OOM:
            with contextlib.suppress(OSError):
                counts = dict(
                    line.split() for line in (self.folders[0] / file).read_text(encoding="ascii").splitlines()
                )
                if int(counts.get("oom_kill", 0)):
                    return f"the process used more memory than the {self.limits[0] // MIB} MiB that it may"
        return ""

    def end(self) -> None:
        """Kill what is left in the group and remove it: a matter of milliseconds, unless the host is very busy."""
        deadline = time.monotonic() + PATIENCE
        if self.members():
            with contextlib.suppress(OSError):
                self.close()  # no process can multiply faster than the loop kills
        while self._left() and time.monotonic() < deadline:
            self._kill()
            time.sleep(0.001)

    def _kill(self) -> None:
        for pid in self.members():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        end_runaways()

    def _left(self) -> bool:
        """Whether a folder could not be removed yet."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return any(folder.exists() for folder in self.folders)


def _write(file: Path, value: int) -> None:
    """Write one number to a file of the kernel, unbuffered; a missing file is an error, never created."""
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)

"""Control groups: the kernel bounds the memory and the processes of a child and of everything that it starts.

Version 2 where the controllers ``memory`` and ``pids`` are given to a folder that can be written (as root, or by
delegation), else version 1. To move a process takes the kernel some ten milliseconds of waiting; to move the thread
that asks takes none, and what it starts is born in its group. Version 1 allows that; version 2 does not for memory.
See ``Documentation/admin-guide/cgroup-v2.rst`` and ``cgroup-v1/``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.launch import Launch, Layer, Warden
from autograder.runaways import end_runaways, family

MIB = 1 << 20

#: Memory of a child by its heaviest package, bytes; and its processes and threads, with those of bubblewrap.
MEMORY = {"": 256 * MIB, "numpy": 512 * MIB, "torch": 4096 * MIB}
PIDS = {"": 16, "numpy": 32, "torch": 128}

#: The files that hold the bounds, by version.
FILES = {1: ("memory.limit_in_bytes", "pids.max"), 2: ("memory.max", "pids.max")}

#: The file that keeps the bound on memory from being one on swapping only, and its value (None: that of memory).
SWAP: dict[int, tuple[str, int | None]] = {1: ("memory.memsw.limit_in_bytes", None), 2: ("memory.swap.max", 0)}

#: The files that count what was killed for its memory, of version 2 and 1.
OOM = ("memory.events", "memory.oom_control")

_counter = itertools.count()


class Cgroups(Layer):
    """A group of its own for every child, bounded, killed and removed with it."""

    name = "cgroups"
    guards = frozenset({"memory", "number of processes"})

    def __init__(self) -> None:
        self.version, self.parents = 0, ()  # type: tuple[int, tuple[Path, ...]]

    def measure(self) -> str:
        reason = "no group with memory and pids is mounted"
        for version, parents in candidates():
            reason = self._try(version, parents)
            if not reason:
                self.version, self.parents = version, parents
                return ""
        return reason

    def _try(self, version: int, parents: tuple[Path, ...]) -> str:
        """Put a process into a group where no more may be added: it must not be able to start another."""
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
        return replace(launch, wardens=(*launch.wardens, group))


def candidates(proc: str = "/proc/self", sys: str = "/sys/fs/cgroup") -> list[tuple[int, tuple[Path, ...]]]:
    """Folders in which groups could be made, best first, each with its version."""
    try:
        lines = Path(proc, "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    own = {names: path for _, names, path in (line.split(":", 2) for line in lines)}
    found: list[tuple[int, tuple[Path, ...]]] = []
    for root in (Path(sys), Path(sys, "unified")):
        here = root / own.get("", "/").lstrip("/")
        found += [(2, (folder,)) for folder in (here, here.parent, root) if _gives(folder)]
    paths = tuple(_version_1(sys, own, name) for name in ("memory", "pids"))
    if all(path.is_dir() for path in paths):
        found.append((1, paths))
    return found


def _gives(folder: Path) -> bool:
    """Whether a group of version 2 gives memory and pids to groups below it."""
    try:
        return {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text(encoding="ascii").split())
    except OSError:
        return False


def _version_1(sys: str, own: dict[str, str], name: str) -> Path:
    """Our own group of a controller of version 1; the root where a container does not show it."""
    path = next((path for names, path in own.items() if name in names.split(",")), "/")
    folder = Path(sys, name, path.lstrip("/"))
    return folder if folder.is_dir() else Path(sys, name)


class Group(Warden):
    """One group below each of ``parents``, made when a child is started in it."""

    def __init__(self, version: int, parents: Sequence[Path], memory: int, pids: int) -> None:
        name = f"grader-{os.getpid()}-{next(_counter)}"
        self.version, self.bounds = version, (memory, pids)
        self.folders = [parent / name for parent in parents]

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """Version 1: this thread goes into the group and back, so that what it starts meanwhile is born there."""
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
        for file, bound in zip(FILES[self.version], self.bounds, strict=True):
            _write(self._place(file), bound)
        file, swap = SWAP[self.version]
        with contextlib.suppress(OSError):  # a kernel that does not count swap has no such file
            _write(self.folders[0] / file, self.bounds[0] if swap is None else swap)

    def enter(self, pid: int) -> None:
        """Version 2: bound the process and all that it has started."""
        if self.version == 1:
            return
        for one in family(pid):
            with contextlib.suppress(ProcessLookupError):
                _write(self.folders[0] / "cgroup.procs", one)

    def _place(self, file: str) -> Path:
        """Where a file of a controller stands: one folder for both, or the controller's own."""
        return self.folders[-1 if file.startswith("pids") else 0] / file

    def close(self) -> None:
        """Nothing more can be started in the group."""
        _write(self._place("pids.max"), 0)

    def members(self) -> set[int]:
        """Processes in the group."""
        found: set[int] = set()
        for folder in self.folders:
            with contextlib.suppress(OSError):
                found |= {int(pid) for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split()}
        return found

    def verdict(self) -> str:
        """Whether the kernel has killed a process of the group for its memory, which it counts."""
        for file in OOM:
            with contextlib.suppress(OSError):
                counts = dict(
                    line.split() for line in (self.folders[0] / file).read_text(encoding="ascii").splitlines()
                )
                if int(counts.get("oom_kill", 0)):
                    return f"the process used more memory than the {self.bounds[0] // MIB} MiB that it may"
        return ""

    def end(self) -> None:
        """Kill what is left in the group and remove it (at most two seconds)."""
        deadline = time.monotonic() + 2.0
        if self.members():
            with contextlib.suppress(OSError):
                self.close()  # nobody can outrun the loop
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
    """One number into a file of the kernel; nothing is buffered, and the file is not made."""
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)

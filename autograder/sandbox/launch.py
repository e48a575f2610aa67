"""How a child is started, and what a layer of the sandbox is: the base on which the layers stand."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

#: Packages of the course, never visible to a child even where they are installed.
OURS = ("solutions", "autograder", "labs", "experiments", "demos")

#: What every interpreter needs to run and to load its libraries.
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


class SandboxRefused(Exception):
    """Isolation is required and this host cannot give it. The message is a sentence."""


class SandboxFailed(Exception):
    """A layer that worked when it was measured did not go up around a child: the grader's failure, nobody else's."""


@functools.cache
def child_files() -> tuple[Path, ...]:
    """The child's own files, ``child*.py`` and the probes, compiled once for all: no start spends its time on that.

    Every user may read them: they hold no secret, and a child may run as another user.
    """
    folder = tempfile.mkdtemp(prefix="grader-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = []
    named = {source.stem: source for source in sorted(HERE.glob("child*.py"))}
    named |= {f"probe_{source.stem}": source for source in sorted(HERE.glob("probes/[!_]*.py"))}
    for name, source in named.items():
        files.append(Path(folder, f"{name}.pyc"))
        py_compile.compile(str(source), str(files[-1]), dfile=source.name, doraise=True)
        files[-1].chmod(0o644)
    os.chmod(folder, 0o755)
    return tuple(files)


def child() -> Path:
    """The file that a child runs."""
    return child_files()[0]


def interpreter() -> str:
    """The interpreter itself, behind virtual environments and version shims."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def site_packages() -> tuple[str, ...]:
    """The folders that hold NumPy and torch for this interpreter, behind symbolic links: a child is shown no link."""
    paths = sysconfig.get_paths()
    folders = [paths["purelib"], paths["platlib"], *(p for p in sys.path if p.endswith(("-packages",)))]
    return tuple(folder for folder in dict.fromkeys(map(os.path.realpath, folders)) if os.path.isdir(folder))


def prefixes() -> set[str]:
    """Where the interpreter is installed."""
    return {os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)}


def shown(packages: Iterable[str]) -> list[str]:
    """Folders that a child reads: the interpreter's, the system's libraries and ``packages``; none inside another."""
    folders = [f"{prefix}/{lib}" for prefix in prefixes() for lib in ("lib", "lib64")]
    paths = {*SYSTEM, *folders, sysconfig.get_paths()["stdlib"], *packages}
    found = sorted(path for path in paths if os.path.exists(path))
    return [p for p in found if not any(p != outer and p.startswith(outer + "/") for outer in found)]


def ours(folders: Iterable[str]) -> Iterator[str]:
    """Packages and modules of the course that stand in folders of packages."""
    for folder in folders:
        for name in OURS:
            yield from (str(path) for path in Path(folder).glob(f"{name}*") if path.name in (name, f"{name}.py"))


class Warden:
    """What the grader does for one child from the outside, and undoes when it has ended."""

    def prepare(self, folder: str) -> None:
        """Before the child starts, with its working folder."""

    def around(self) -> contextlib.AbstractContextManager[object]:
        """Held by the thread that starts the child while it does.

        Raises:
            OSError: it cannot be done.
        """
        return contextlib.nullcontext()

    def enter(self, pid: int) -> None:
        """When the child is up and none of the submission's code has run.

        Raises:
            OSError: it cannot be done.
        """

    def verdict(self) -> str:
        """Why it ended the child, in words; empty when it did not. Asked before :meth:`end`."""
        return ""

    def end(self) -> None:
        """When the child has been killed: end what is left of it, and leave nothing behind."""


@dataclass(frozen=True)
class Launch:
    """How a child is started.

    Attributes:
        argv: its command line.
        env: its environment.
        packages: the folders of packages that it can see.
        inside: it lives in namespaces of its own, with its own working folder, and all its offspring dies with it.
        package: the heaviest package that it imports: ``""``, ``"numpy"`` or ``"torch"``.
        walls: what it puts up itself before any of the submission's code runs; see ``child_walls.py``.
        wardens: what the grader does for it from the outside.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    packages: tuple[str, ...] = ()
    inside: bool = False
    package: str = ""
    walls: dict[str, Any] = field(default_factory=dict)
    wardens: tuple[Warden, ...] = ()

    def with_walls(self, **walls: Any) -> Launch:
        """With more walls."""
        return replace(self, walls=self.walls | walls)


class Layer:
    """One layer: what it is called, what it guards, whether this host has it, and how a child gets it.

    ``leaves``: what it leaves open on this host although it works, in words; set by :meth:`measure`.
    """

    name = ""
    guards: frozenset[str] = frozenset()
    leaves = ""

    def measure(self) -> str:
        """Empty when the layer works here, else the reason why not. It is tried on a process started for it."""
        raise NotImplementedError

    def apply(self, launch: Launch) -> Launch:
        """``launch`` with this layer around it."""
        raise NotImplementedError


#: Puts up walls and then runs a piece of code: ``argv`` is the file of the walls, the walls, and the code.
BEHIND = """
import json, marshal, sys
names = {"__name__": "child_walls"}
exec(marshal.loads(open(sys.argv[1], "rb").read()[16:]), names)
walls, code = json.loads(sys.argv[2]), sys.argv[3]
names["first"](walls)
names["last"](walls)
exec(code, {})
"""


def trial(walls: dict[str, Any], code: str) -> str:
    """What ``code`` prints in the bare interpreter behind ``walls``, or how it failed."""
    walls_file = next(str(file) for file in child_files() if file.stem == "child_walls")
    argv = (interpreter(), "-I", "-S", "-B", "-c", BEHIND, walls_file, json.dumps(walls), code)
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        os.chmod(folder, 0o777)  # an empty folder for a moment; the user may be another one
        try:
            done = subprocess.run(argv, env={}, cwd=folder, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the interpreter does not start: {error}"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"the process ended with status {done.returncode}"])[-1]
    return done.stdout.strip()

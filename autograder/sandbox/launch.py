"""How a child is started, and the base class of the layers of the sandbox."""

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
from typing import Any, Literal

from autograder.starting import Package

#: What a layer can guard.
Guard = Literal["time", "memory", "number of processes", "files", "network", "processes", "channels"]

#: The grader's own folder, which no child may read.
HERE = Path(__file__).resolve().parents[1]

#: Packages of the course. No child sees them, even where they are installed.
OURS = ("solutions", "autograder", "labs", "experiments", "demos")

#: What every interpreter needs to run and to load its libraries.
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")


class SandboxRefused(Exception):
    """Isolation is required and this host cannot give it. The message is a sentence."""


@functools.cache
def child_files() -> tuple[Path, ...]:
    """The files of :mod:`autograder.child` and the probes, compiled once so that no child has to compile them.

    They are readable by every user: they hold no secret, and a child may run as another user.
    """
    folder = tempfile.mkdtemp(prefix="grader-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = []
    sources = sorted(HERE.glob("child/[!_]*.py"), key=lambda source: (source.stem != "main", source.stem))
    named = {"child" if source.stem == "main" else f"child_{source.stem}": source for source in sources}
    named |= {f"probe_{source.stem}": source for source in sorted(HERE.glob("probes/[!_]*.py"))}
    for name, source in named.items():
        files.append(Path(folder, f"{name}.pyc"))
        py_compile.compile(str(source), str(files[-1]), dfile=source.name, doraise=True)
        files[-1].chmod(0o644)
    os.chmod(folder, 0o755)
    return tuple(files)


def child() -> Path:
    """The compiled file that a child runs."""
    return child_files()[0]


def interpreter() -> str:
    """The interpreter itself, behind virtual environments and version shims."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def site_packages() -> tuple[str, ...]:
    """The folders that hold NumPy and torch for this interpreter; links are resolved, as a child does not see them."""
    paths = sysconfig.get_paths()
    folders = [paths["purelib"], paths["platlib"], *(p for p in sys.path if p.endswith(("-packages",)))]
    return tuple(folder for folder in dict.fromkeys(map(os.path.realpath, folders)) if os.path.isdir(folder))


def prefixes() -> set[str]:
    """Where the interpreter is installed."""
    return {os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)}


def shown(packages: Iterable[str]) -> list[str]:
    """Folders that a child reads, none inside another: the interpreter's, the system's libraries and ``packages``."""
    folders = [f"{prefix}/{lib}" for prefix in prefixes() for lib in ("lib", "lib64")]
    paths = {*SYSTEM, *folders, sysconfig.get_paths()["stdlib"], *packages}
    found = sorted(path for path in paths if os.path.exists(path))
    return [p for p in found if not any(p != outer and p.startswith(outer + "/") for outer in found)]


def ours(folders: Iterable[str]) -> Iterator[str]:
    """The packages and modules of the course in folders of installed packages."""
    for folder in folders:
        for name in OURS:
            yield from (str(path) for path in Path(folder).glob(f"{name}*") if path.name in (name, f"{name}.py"))


class Hook:
    """What the grader does for one child from the outside, before it starts, while it runs and after it has ended."""

    def prepare(self, folder: str) -> None:
        """Called before the child starts, with the path of its working folder."""

    def around(self) -> contextlib.AbstractContextManager[object]:
        """A context in which the grader's thread starts the child.

        Raises:
            OSError: it cannot be done.
        """
        return contextlib.nullcontext()

    def enter(self, pid: int) -> None:
        """Called when the child is up and before any of the submission's code runs.

        Raises:
            OSError: it cannot be done.
        """

    def verdict(self) -> str:
        """Why the child was ended on this hook's account, in words; else empty. Called before :meth:`end`."""
        return ""

    def end(self) -> None:
        """Called when the child has been killed: end what is left of it, and clean up."""


@dataclass(frozen=True)
class Launch:
    """How a child is started.

    Attributes:
        argv: its command line.
        env: its environment.
        packages: the folders of packages that it can see.
        inside: it lives in its own namespaces with its own working folder, and its descendants die with it.
        package: the heaviest package that it imports.
        walls: what the child imposes on itself before any of the submission's code runs; see ``child/walls.py``.
        hooks: what the grader does for it from the outside.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    packages: tuple[str, ...] = ()
    inside: bool = False
    package: Package = ""
    walls: dict[str, Any] = field(default_factory=dict)
    hooks: tuple[Hook, ...] = ()

    def with_walls(self, **walls: Any) -> Launch:
        """The same launch with these walls added."""
        return replace(self, walls=self.walls | walls)


class Layer:
    """One layer of the sandbox: its name, what it guards, whether it works on this host, and how a child gets it.

    ``leaves``: what it leaves open on this host although it works, in words; set by :meth:`measure`.
    """

    name = ""
    guards: frozenset[Guard] = frozenset()
    leaves = ""

    def measure(self) -> str:
        """Try the layer on a process started for it. The reason why it does not work here; empty when it does."""
        raise NotImplementedError

    def apply(self, launch: Launch) -> Launch:
        """``launch`` with this layer added."""
        raise NotImplementedError


#: Puts up walls and then runs a piece of code. Arguments: the compiled file of the walls, the walls as JSON, the code.
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
    """What ``code`` prints in a bare interpreter behind ``walls``; if it fails, the last line of the error."""
    walls_file = next(str(file) for file in child_files() if file.stem == "child_walls")
    argv = (interpreter(), "-I", "-S", "-B", "-c", BEHIND, walls_file, json.dumps(walls), code)
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        os.chmod(folder, 0o777)  # it is empty and short-lived, and the process may run as another user
        try:
            done = subprocess.run(argv, env={}, cwd=folder, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"the interpreter does not start: {error}"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"the process ended with status {done.returncode}"])[-1]
    return done.stdout.strip()

"""What keeps a submission in: layers that are measured on this host, applied to each child, and reported honestly.

A layer says what it guards, tries itself once (:meth:`Layer.measure`) and wraps the start of a child
(:meth:`Layer.apply`). The rule that protects the score is not here: a child never holds an expected value. The layers
protect files, the network and the grader's life. Later layers (seccomp, Landlock, a drop of uid, cgroups) join
:data:`LAYERS`.
"""

from __future__ import annotations

import atexit
import functools
import os
import platform
import py_compile
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: Where the child's files stand inside bubblewrap.
INSIDE = "/grader"

#: Packages of the course, never visible to a child even where they are installed.
OURS = ("solutions", "autograder", "labs", "demos")


class SandboxRefused(Exception):
    """Isolation is required and this host cannot give it. The message is a sentence."""


@functools.cache
def child_files() -> tuple[Path, ...]:
    """The child's own files, ``child*.py`` and the probes, compiled once for all: no start spends its time on that."""
    folder = tempfile.mkdtemp(prefix="grader-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = []
    named = {source.stem: source for source in sorted(HERE.glob("child*.py"))}
    named |= {f"probe_{source.stem}": source for source in sorted(HERE.glob("probes/[!_]*.py"))}
    for name, source in named.items():
        files.append(Path(folder, f"{name}.pyc"))
        py_compile.compile(str(source), str(files[-1]), dfile=source.name, doraise=True)
    return tuple(files)


def child() -> Path:
    """The file that a child runs."""
    return child_files()[0]


def interpreter() -> str:
    """The interpreter itself, behind virtual environments and version shims."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def site_packages() -> tuple[str, ...]:
    """The folders that hold NumPy and torch for this interpreter."""
    paths = sysconfig.get_paths()
    folders = [paths["purelib"], paths["platlib"], *(p for p in sys.path if p.endswith(("-packages",)))]
    return tuple(folder for folder in dict.fromkeys(folders) if os.path.isdir(folder))


@dataclass(frozen=True)
class Launch:
    """How a child is started: its command line, its environment, and the package folders that it can see.

    ``inside``: it lives in namespaces of its own, with its own working folder, and all its offspring dies with it.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    packages: tuple[str, ...] = ()
    inside: bool = False


class Layer:
    """One layer: what it is called, what it guards, whether this host has it, and how a child gets it."""

    name = ""
    guards: frozenset[str] = frozenset()

    def measure(self) -> str:
        """Empty when the layer works here, else the reason why not."""
        raise NotImplementedError

    def apply(self, launch: Launch) -> Launch:
        """``launch`` with this layer around it."""
        raise NotImplementedError


class ProcessLayer(Layer):
    """A process of its own: new session, empty folder, three variables, resource and time limits, killed at the end."""

    name = "process limits"
    guards = frozenset({"time", "memory"})

    def measure(self) -> str:
        return "" if os.name == "posix" else "resource limits need a POSIX system"

    def apply(self, launch: Launch) -> Launch:
        return replace(launch, env={"HOME": "/tmp", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"})


class Bubblewrap(Layer):
    """Namespaces of its own for files, network, processes and users, by the ``bwrap`` program."""

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
        for file in child_files():
            flags += ["--ro-bind", str(file), f"{INSIDE}/{file.name}"]
        flags += ["--remount-ro", "/dev", "--remount-ro", "/"]
        argv = tuple(f"{INSIDE}/{child().name}" if part == str(child()) else part for part in launch.argv)
        return replace(launch, argv=(self.program, *flags, "--", *argv), inside=True)


@functools.cache
def _binds(packages: tuple[str, ...]) -> tuple[str, ...]:
    """bwrap flags that show the interpreter, the system's libraries and ``packages``, without our own packages."""
    python = interpreter()
    folders = [f"{prefix}/{lib}" for prefix in _prefixes() for lib in ("lib", "lib64")]
    system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"]
    flags = []
    for path in _outermost([*system, *folders, sysconfig.get_paths()["stdlib"], *packages]):
        flags += ["--ro-bind", path, path]
    for path in sorted(set(_hidden(packages))):
        flags += ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", os.devnull, path]
    return (*flags, "--ro-bind", python, python)


def _prefixes() -> set[str]:
    return {os.path.realpath(sys.base_prefix), os.path.realpath(sys.base_exec_prefix)}


def _outermost(paths: Iterable[str]) -> list[str]:
    """The existing paths, without those that stand inside another."""
    found = sorted({path for path in paths if os.path.exists(path)})
    return [p for p in found if not any(p != outer and p.startswith(outer + "/") for outer in found)]


def _hidden(packages: tuple[str, ...]) -> Iterable[str]:
    """What must not be seen although it stands inside a bound folder: other site-packages, and ours in those shown."""
    for prefix in _prefixes():
        for folder in Path(prefix, "lib").glob("python3*/*-packages"):
            if str(folder) not in packages:
                yield str(folder)
    for package in packages:
        for name in OURS:
            yield from (str(path) for path in Path(package).glob(f"{name}*") if _is_ours(path.name, name))


def _is_ours(file: str, name: str) -> bool:
    return file in (name, f"{name}.py")


#: All layers, in the order in which they are put around a child.
LAYERS: tuple[type[Layer], ...] = (ProcessLayer, Bubblewrap)

#: What a class needs before code that nobody has read may run beside other people's work.
NEEDED = frozenset({"files", "network"})


@functools.cache
def measured() -> tuple[tuple[Layer, str], ...]:
    """Every layer with the reason why this host does not have it (empty when it does). Measured once per process."""
    return tuple((layer, layer.measure()) for layer in (kind() for kind in LAYERS))


@dataclass(frozen=True)
class Sandbox:
    """The layers in use. ``line`` is the sentence for the screen and for every result."""

    level: str
    layers: tuple[Layer, ...]
    line: str

    @classmethod
    def measure(cls, level: str = "best") -> Sandbox:
        """Try the layers here. ``best`` takes what works, ``required`` insists on files and network.

        Raises:
            SandboxRefused: ``required``, and this host cannot isolate files and network.
            ValueError: another level.
        """
        if level not in ("best", "required", "none"):
            raise ValueError(f"level must be best, required or none, got {level!r}")
        if level == "none":
            return cls(level, (ProcessLayer(),), "sandbox: none (process limits only, as asked)")
        working = tuple(layer for layer, reason in measured() if not reason)
        missing = NEEDED - frozenset[str]().union(*(layer.guards for layer in working))
        if level == "required" and missing:
            reasons = "; ".join(f"{layer.name}: {reason}" for layer, reason in measured() if reason)
            raise SandboxRefused(f"this host cannot isolate {' and '.join(sorted(missing))} ({reasons})")
        line = "sandbox: " + ", ".join(layer.name for layer in working)
        return cls(level, working, line + (f"; not isolated: {', '.join(sorted(missing))}" if missing else ""))

    @property
    def isolated(self) -> bool:
        """Files and network are out of reach."""
        return frozenset[str]().union(*(layer.guards for layer in self.layers)) >= NEEDED

    def launch(self, packages: tuple[str, ...] = ()) -> Launch:
        """How to start one child that can see ``packages``."""
        launch = Launch((interpreter(), "-I", "-S", "-B", str(child())), {}, packages)
        for layer in self.layers:
            launch = layer.apply(launch)
        return launch


def probe() -> list[str]:
    """Report lines: what this host can isolate."""
    lines = [f"python {platform.python_version()} on {platform.system()} {platform.release()}"]
    for layer, reason in measured():
        state = f"no: {reason}" if reason else f"yes: guards {', '.join(sorted(layer.guards))}"
        lines.append(f"{layer.name}: {state}")
    lines.append(Sandbox.measure("best").line)
    return lines

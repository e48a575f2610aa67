"""The layers of the sandbox: measured on this host, applied to each child, and reported honestly.

A layer says what it guards, tries itself once on a process that it has to confine (:meth:`Layer.measure`) and adds
itself to the start of a child (:meth:`Layer.apply`). The layers protect files, the network, other processes and the
grader itself. They do not protect the score: that rests on the rule that a child never holds an expected value.

Bubblewrap isolates files and network; so does the system call filter together with Landlock. The filter together with a
user of its own is enough in a container that exists for one submission; anywhere else that pair leaves open whatever
every user may read or write.
"""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from autograder.sandbox.bubblewrap import Bubblewrap
from autograder.sandbox.cgroups import Cgroups
from autograder.sandbox.landlock import Landlock
from autograder.sandbox.launch import (
    Guard,
    Launch,
    Layer,
    SandboxRefused,
    child,
    interpreter,
)
from autograder.sandbox.seccomp import Seccomp
from autograder.sandbox.user_drop import UserDrop
from autograder.starting import Package

#: How much isolation is asked for: what this host offers; files and network, or no grading; process limits only.
Level = Literal["best", "required", "none"]
LEVELS: tuple[Level, ...] = get_args(Level)


class ProcessLayer(Layer):
    """The child is a process in a new session and an empty folder, with few variables, limited resources and time."""

    name = "process limits"
    guards: frozenset[Guard] = frozenset({"time", "memory"})

    def measure(self) -> str:
        return "" if os.name == "posix" else "resource limits need a POSIX system"

    def apply(self, launch: Launch) -> Launch:
        return replace(launch, env={"HOME": "/tmp", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"})


#: All layers, in the order in which they are put around a child.
LAYERS: tuple[type[Layer], ...] = (ProcessLayer, Seccomp, Landlock, Bubblewrap, UserDrop, Cgroups)

#: Layers that can be left out, by name.
NAMES = tuple(kind.name for kind in LAYERS[1:])

#: Why no submission is graded on native Windows, which has neither fork nor limits of a process.
NO_GRADING = (
    "submissions are run in processes with limits, which native Windows does not have: grade in WSL 2, "
    "GitHub Codespaces or Colab"
)

#: What must be isolated before code that nobody has read may run beside other people's work.
NEEDED: frozenset[Guard] = frozenset({"files", "network"})

#: What a report names if it is not isolated. ``channels``: ways for children to talk to each other unseen.
REPORTED: frozenset[Guard] = frozenset({*NEEDED, "processes", "channels"})


@functools.cache
def measured() -> tuple[tuple[Layer, str], ...]:
    """Every layer with the reason why it does not work on this host (empty when it does). Measured once per process."""
    return tuple((layer, layer.measure()) for layer in (kind() for kind in LAYERS))


@dataclass(frozen=True)
class Sandbox:
    """The layers in use. ``line`` describes them, on the screen and in every result."""

    level: Level
    layers: tuple[Layer, ...]
    line: str

    @classmethod
    def measure(cls, level: Level = "best", without: Iterable[str] = (), alone: Sequence[Path] = ()) -> Sandbox:
        """The sandbox of the layers that work on this host. The layer ``uid`` is used only without bubblewrap.

        Args:
            level: ``best`` takes what works, ``required`` insists on files and network, ``none`` limits processes only.
            without: names of layers to leave out, from :data:`NAMES`.
            alone: this host exists for one submission, and these folders hold all that it must not read.

        Raises:
            SandboxRefused: the level is ``required``, and this host cannot isolate files and network; or submissions
                cannot be run on this system at all.
            ValueError: an unknown level or layer.
        """
        if level not in LEVELS:
            raise ValueError(f"level must be best, required or none, got {level!r}")
        without = tuple(without)
        for name in without:
            if name not in NAMES:
                raise ValueError(f"without must name layers of {', '.join(NAMES)}, got {name!r}")
        if not hasattr(os, "fork"):
            raise SandboxRefused(NO_GRADING)
        if level == "none":
            return cls(level, (ProcessLayer(),), "sandbox: none (process limits only, as asked)")
        tried = [(_alone(layer, alone), reason) for layer, reason in measured()]
        working = [layer for layer, reason in tried if not reason and layer.name not in without]
        if any(layer.name == "bubblewrap" for layer in working):
            working = [layer for layer in working if layer.name != "uid"]
        missing = NEEDED - _guarded(working)
        if level == "required" and missing:
            raise SandboxRefused(
                f"this host cannot isolate {' and '.join(sorted(missing))} ({_reasons(tried, without)})"
            )
        return cls(level, tuple(working), _line(working))

    @property
    def isolated(self) -> bool:
        """Whether files and network are out of a child's reach."""
        return _guarded(self.layers) >= NEEDED

    @property
    def hides_processes(self) -> bool:
        """Whether no child can read another process's environment: it sees no ``/proc``, or runs as another user."""
        return "files" in _guarded(self.layers) or any(layer.name == "uid" for layer in self.layers)

    def launch(self, packages: tuple[str, ...] = (), package: Package = "") -> Launch:
        """How to start one child that sees the folders ``packages`` and imports at most ``package``."""
        launch = Launch((interpreter(), "-I", "-S", "-B", str(child())), {}, packages, package=package)
        for layer in self.layers:
            launch = layer.apply(launch)
        return launch


def _alone(layer: Layer, folders: Sequence[Path]) -> Layer:
    """The layer as it is on a host for one submission if ``folders`` are given; else the layer itself."""
    return layer.alone(folders) if folders and isinstance(layer, UserDrop) else layer


def _guarded(layers: Iterable[Layer]) -> frozenset[Guard]:
    return frozenset[Guard]().union(*(layer.guards for layer in layers))


def _line(layers: Sequence[Layer]) -> str:
    """One line with the layers and what they leave open."""
    line = "sandbox: " + ", ".join(layer.name for layer in layers)
    missing: list[str] = sorted(REPORTED - _guarded(layers))
    leaks = [layer.leaves for layer in layers if layer.leaves and "files" in missing]
    if leaks:
        missing[missing.index("files")] = f"files ({'; '.join(leaks)})"
    return line + (f"; not isolated: {', '.join(missing)}" if missing else "")


def _reasons(tried: Iterable[tuple[Layer, str]], without: Sequence[str]) -> str:
    """Why some layers are not in use, and what the others leave open."""
    reasons = []
    for layer, reason in tried:
        if layer.name in without:
            reasons.append(f"{layer.name}: left out, as asked")
        elif reason or layer.leaves:
            reasons.append(f"{layer.name}: {reason or f'it leaves open {layer.leaves}'}")
    return "; ".join(reasons)


def probe() -> list[str]:
    """The lines of a report on what this host can isolate."""
    lines = [f"python {platform.python_version()} on {platform.system()} {platform.release()}, {platform.machine()}"]
    if not hasattr(os, "fork"):
        return [*lines, NO_GRADING]
    for layer, reason in measured():
        state = f"no: {reason}" if reason else f"yes: guards {', '.join(sorted(layer.guards))}"
        lines.append(f"{layer.name}: {state}" + (f"; leaves open {layer.leaves}" if layer.leaves else ""))
    lines.append(Sandbox.measure("best").line)
    return lines

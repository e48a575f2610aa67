"""What keeps a submission in: layers that are measured on this host, applied to each child, and reported honestly.

A layer says what it guards, tries itself once on a process that it must bite (:meth:`Layer.measure`) and adds itself to
the start of a child (:meth:`Layer.apply`). The rule that protects the score is not here: a child never holds an
expected value. The layers protect files, the network, other processes and the grader's life. Files and network are
isolated by bubblewrap, or by the filter of system calls together with Landlock. The filter and a user of its own are
enough in a container that exists for one submission; anywhere else they leave open what every user may read or write.
"""

from __future__ import annotations

import functools
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.bubblewrap import INSIDE, Bubblewrap
from autograder.cgroups import Cgroups
from autograder.landlock import Landlock
from autograder.launch import (
    HERE,
    Launch,
    Layer,
    SandboxFailed,
    SandboxRefused,
    child,
    child_files,
    interpreter,
    site_packages,
)
from autograder.seccomp import Seccomp
from autograder.user_drop import UserDrop

__all__ = [
    "HERE",
    "INSIDE",
    "LAYERS",
    "NAMES",
    "Bubblewrap",
    "Launch",
    "Layer",
    "ProcessLayer",
    "Sandbox",
    "SandboxFailed",
    "SandboxRefused",
    "child",
    "child_files",
    "interpreter",
    "measured",
    "probe",
    "site_packages",
]


class ProcessLayer(Layer):
    """A process of its own: new session, empty folder, four variables, resource and time limits, killed at the end."""

    name = "process limits"
    guards = frozenset({"time", "memory"})

    def measure(self) -> str:
        return "" if os.name == "posix" else "resource limits need a POSIX system"

    def apply(self, launch: Launch) -> Launch:
        return replace(launch, env={"HOME": "/tmp", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"})


#: All layers, in the order in which they are put around a child.
LAYERS: tuple[type[Layer], ...] = (ProcessLayer, Seccomp, Landlock, Bubblewrap, UserDrop, Cgroups)

#: Layers that can be left out, by name.
NAMES = tuple(kind.name for kind in LAYERS[1:])

#: What a class needs before code that nobody has read may run beside other people's work.
NEEDED = frozenset({"files", "network"})

#: What is said when it is open: also what children could do to other processes, or tell each other unseen.
SAID = NEEDED | {"processes", "channels"}


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
    def measure(cls, level: str = "best", without: Iterable[str] = (), alone: Sequence[Path] = ()) -> Sandbox:
        """Try the layers here. ``best`` takes what works, ``required`` insists on files and network.

        ``without``: names of layers to leave out, of :data:`NAMES`. A user of its own is for where bubblewrap is not.
        ``alone``: this host exists for one submission, and these folders hold all that it must not read.

        Raises:
            SandboxRefused: ``required``, and this host cannot isolate files and network.
            ValueError: another level, or a layer that there is not.
        """
        if level not in ("best", "required", "none"):
            raise ValueError(f"level must be best, required or none, got {level!r}")
        without = tuple(without)
        for name in without:
            if name not in NAMES:
                raise ValueError(f"without must name layers of {', '.join(NAMES)}, got {name!r}")
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
        """Files and network are out of reach."""
        return _guarded(self.layers) >= NEEDED

    @property
    def hides_processes(self) -> bool:
        """No child can read the environment of another process: it sees no ``/proc``, or is another user."""
        return "files" in _guarded(self.layers) or any(layer.name == "uid" for layer in self.layers)

    def launch(self, packages: tuple[str, ...] = (), package: str = "") -> Launch:
        """How to start one child that can see ``packages``, of which the heaviest it imports is ``package``."""
        launch = Launch((interpreter(), "-I", "-S", "-B", str(child())), {}, packages, package=package)
        for layer in self.layers:
            launch = layer.apply(launch)
        return launch


def _alone(layer: Layer, folders: Sequence[Path]) -> Layer:
    """A layer as it is on a host for one submission, where ``folders`` are given."""
    return layer.alone(folders) if folders and isinstance(layer, UserDrop) else layer


def _guarded(layers: Iterable[Layer]) -> frozenset[str]:
    return frozenset[str]().union(*(layer.guards for layer in layers))


def _line(layers: Sequence[Layer]) -> str:
    """The sentence: the layers, and what they leave open."""
    line = "sandbox: " + ", ".join(layer.name for layer in layers)
    missing = sorted(SAID - _guarded(layers))
    leaks = [layer.leaves for layer in layers if layer.leaves and "files" in missing]
    if leaks:
        missing[missing.index("files")] = f"files ({'; '.join(leaks)})"
    return line + (f"; not isolated: {', '.join(missing)}" if missing else "")


def _reasons(tried: Iterable[tuple[Layer, str]], without: Sequence[str]) -> str:
    """Why layers are not in use, and what those in use leave open."""
    reasons = []
    for layer, reason in tried:
        if layer.name in without:
            reasons.append(f"{layer.name}: left out, as asked")
        elif reason or layer.leaves:
            reasons.append(f"{layer.name}: {reason or f'it leaves open {layer.leaves}'}")
    return "; ".join(reasons)


def probe() -> list[str]:
    """Report lines: what this host can isolate."""
    lines = [f"python {platform.python_version()} on {platform.system()} {platform.release()}, {platform.machine()}"]
    for layer, reason in measured():
        state = f"no: {reason}" if reason else f"yes: guards {', '.join(sorted(layer.guards))}"
        lines.append(f"{layer.name}: {state}" + (f"; leaves open {layer.leaves}" if layer.leaves else ""))
    lines.append(Sandbox.measure("best").line)
    return lines

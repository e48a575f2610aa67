"""What every worker of a page has in place of something else: torch, and worlds without their processes."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

#: The folder that holds the packages of the course.
ROOT = Path(__file__).resolve().parents[2]
#: What stands in for torch: a folder to import from.
STAND_IN = ROOT / "autograder" / "page" / "stand_in"
#: Modules of Unix that the standard library and the grader import and that a browser does not have.
MISSING = ("pwd", "grp", "resource", "fcntl", "termios", "_posixshmem")


def missing() -> None:
    """Empty modules in place of those that this Python does not have."""
    for name in MISSING if sys.platform == "emscripten" else ():
        sys.modules.setdefault(name, types.ModuleType(name))


def torch() -> None:
    """From now on, ``import torch`` finds the stand-in."""
    if str(STAND_IN) not in sys.path:
        sys.path.insert(0, str(STAND_IN))
    importlib.invalidate_caches()


def world_package() -> types.ModuleType:
    """``rankzero.world`` with its modules and without its face, which would start processes."""
    if "rankzero.world" not in sys.modules:
        import rankzero

        package = types.ModuleType("rankzero.world")
        package.__path__ = [str(ROOT / "rankzero" / "world")]
        sys.modules["rankzero.world"] = package
        vars(rankzero)["world"] = package
    return sys.modules["rankzero.world"]

"""Prepare a fresh machine: ``python3 tools/prepare.py debian`` and ``python3 tools/prepare.py environment``.

Standard library only: this runs before anything is installed. ``debian`` installs what the operating system must
provide (a browser and a sandbox for the tests, npm for the explorers) if there is apt and permission to use it, and
otherwise says what is missing; ``environment`` makes ``.venv`` and installs the course into it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tools.common import ROOT, fail, say

EXTRAS = "book,serve,rl,grade,dask,test"
#: The oldest Python that the course runs on.
OLDEST = (3, 11)
#: The Python that runs, as pip and Debian's packages name it.
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
#: Programs that can open a page, best first: the headless shell needs about half of the processor time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FIREFOXES = ("firefox-esr", "firefox")


@dataclass(frozen=True)
class Need:
    """A program of the operating system: its Debian package, whether it is there, and the consequence if it is not."""

    package: str
    present: Callable[[], bool]
    without: str


NEEDS = (
    Need("chromium-headless-shell", lambda: bool(shutil.which(BROWSERS[0])), "the browser tests take longer"),
    Need("chromium", lambda: any(map(shutil.which, BROWSERS)), "the browser tests are skipped"),
    Need("firefox-esr", lambda: any(map(shutil.which, FIREFOXES)), "ranks in a page are not tried in Firefox"),
    Need("bubblewrap", lambda: bool(shutil.which("bwrap")), "grading is isolated less well, its tests are skipped"),
    Need("npm", lambda: bool(shutil.which("npm")), "explorers in the built pages are static"),
    Need(
        f"python{HERE}-venv", lambda: bool(importlib.util.find_spec("ensurepip")), "no virtual environment can be made"
    ),
)


def _missing() -> list[Need]:
    return [need for need in NEEDS if not need.present()]


def _apt() -> list[str] | None:
    """The command that installs Debian packages without asking, or None."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    asks = subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode if shutil.which("sudo") else 1
    return ["sudo", "-n", "apt-get"] if asks == 0 else None


def debian() -> int:
    """Install the missing programs; returns 0 in any case, because the course works without them."""
    missing = _missing()
    command = _apt() if missing else None
    if command:
        silent = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*command, "update"], capture_output=True, env=silent)
        for need in missing:
            if not need.present():  # an earlier package may have brought it
                say(f"installing the Debian package {need.package}")
                install = [*command, "install", "-y", "--no-install-recommends", need.package]
                subprocess.run(install, capture_output=True, env=silent)
    for need in _missing():
        say(f"not installed: {need.package}, so {need.without} (on Debian: apt-get install {need.package})")
    return 0


def whole(python: Path) -> bool:
    """Whether an environment was made to its end, by the Python that runs: pip, which is put in last, starts and says
    for which Python it is."""
    if not python.exists():
        return False
    asked = subprocess.run([str(python), "-m", "pip", "--version"], capture_output=True, text=True)
    return asked.returncode == 0 and asked.stdout.rstrip().endswith(f"(python {HERE})")


def environment(root: Path = ROOT) -> int:
    """Make ``.venv`` and install the course with the pinned versions; returns 1 if that fails.

    pip would compile all that it installs on one core; compileall does it on all cores, without the libraries' tests.
    """
    if sys.version_info < OLDEST:
        return fail(f"Rank Zero needs Python 3.11 or later, got {sys.version.split()[0]}: make book PYTHON=python3.12")
    began = time.monotonic()
    python = root / ".venv" / "bin" / "python"
    if not whole(python):
        say(f"creating .venv with Python {sys.version.split()[0]}")
        create = [sys.executable, "-m", "venv", "--clear", str(root / ".venv")]
        made = subprocess.run(create, capture_output=True, text=True)
        if made.returncode:
            return fail(f"could not create .venv: {(made.stderr or made.stdout).strip()}")
    say("installing the course and its tools into .venv (several minutes the first time)")
    chosen = ["-e", f".[{EXTRAS}]", "-c", "constraints.txt"]
    install = [str(python), "-m", "pip", "install", "-qq", "--no-compile", *chosen]
    settings = {**os.environ, "PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    if subprocess.run(install, cwd=root, env=settings).returncode:
        return fail("pip could not install the course: see its message above")
    compiling = [str(python), "-m", "compileall", "-qq", "-j", "0", "-x", r"/tests?/", str(root / ".venv" / "lib")]
    subprocess.run(compiling, capture_output=True)  # a template that is no program stays as it is
    say(f"installed in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    steps = {"debian": debian, "environment": environment}
    if len(sys.argv) != 2 or sys.argv[1] not in steps:
        print(f"usage: prepare.py {'|'.join(steps)}", file=sys.stderr)
        sys.exit(2)
    sys.exit(steps[sys.argv[1]]())

"""Build the distribution, and compare the wheel with the course: what pip installs without a checkout."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from email import message_from_string
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tools.common import ROOT

#: What stands in a folder for whoever opens the repository there, and is no part of a package.
LEFT_OUT = ("README.md",)
#: Minutes for one command, a download included.
COMMAND = 15
#: What the distribution is made of, beside its packages.
ABOUT = ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT")


class Broken(Exception):
    """The distribution is not what it should be; the message is a sentence."""


def files(root: Path = ROOT) -> list[str]:
    """The project's files: those that git has, and new ones."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True).stdout
    return sorted(name for name in set(listed.split("\0")) - {""} if (root / name).is_file())


def parts() -> list[str]:
    """The files of which the distribution is made."""
    rooms = packages()
    return [name for name in files() if name.partition("/")[0] in rooms or name in ABOUT]


def state() -> str:
    """Twelve digits that change with any file of which the distribution is made."""
    found = hashlib.sha256()
    for name in parts():
        found.update(name.encode() + hashlib.sha256((ROOT / name).read_bytes()).digest())
    return found.hexdigest()[:12]


def build(folder: Path) -> Path:
    """Build the source distribution from a copy of the project, and from it the wheel; returns the wheel, in a folder
    of ``folder`` that is named by the state of the project. What was built before is taken again, or removed.

    Raises:
        Broken: that fails.
    """
    target = folder / state()
    if target.exists():
        return found(target)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        copy, tool = Path(temporary, "project"), Path(temporary, "tool")
        for name in parts():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
        _run(sys.executable, "-m", "venv", "--without-pip", str(tool))
        pip(tool / "bin" / "python", "install", "build", *_project()["build-system"]["requires"])
        _run(str(tool / "bin" / "python"), "-m", "build", "--no-isolation", "--outdir", str(folder / "part"), str(copy))
    (folder / "part").rename(target)
    return found(target)


def found(target: Path) -> Path:
    """The only wheel in a folder.

    Raises:
        Broken: there is none, or more than one.
    """
    wheels = sorted(target.glob("*.whl"))
    if len(wheels) != 1:
        raise Broken(f"there must be one wheel, and there are {len(wheels)}")
    return wheels[0]


def pip(python: Path, *arguments: str) -> None:
    """Run this environment's pip for another Python, which needs none of its own.

    Raises:
        Broken: it fails.
    """
    _run(sys.executable, "-m", "pip", "--python", str(python), "--quiet", *arguments)


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 * COMMAND)
    except subprocess.TimeoutExpired:
        raise Broken(f"{' '.join(command[1:4])} did not end within {COMMAND} minutes") from None
    if done.returncode:
        last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-3:]
        raise Broken(f"{' '.join(command[1:4])} failed: {' / '.join(last)}")


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def packages() -> list[str]:
    """The rooms that are distributed."""
    return [name.removesuffix("*") for name in _project()["tool"]["setuptools"]["packages"]["find"]["include"]]


def brought(extras: Iterable[str]) -> list[str]:
    """The packages that only these extras bring, under the names by which they are imported too."""
    optional = _project()["project"]["optional-dependencies"]
    return sorted({Requirement(need).name for extra in extras for need in optional[extra]})


def difference(wheel: Path) -> list[str]:
    """What is in the wheel or in the rooms that are distributed, and not in both."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    wanted = {name for name in parts() if name not in ABOUT and Path(name).name not in LEFT_OUT}
    inside = {name for name in inside if Path(name).name not in LEFT_OUT}
    return sorted(inside ^ wanted)


def fingerprint(wheel: Path) -> str:
    """Twelve digits that change with any file of the wheel, and not with the day on which it was built."""
    with zipfile.ZipFile(wheel) as archive:
        record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        return hashlib.sha256(archive.read(record)).hexdigest()[:12]


def requirements(wheel: Path, extra: str) -> list[str]:
    """What the wheel needs, with an extra, as pip takes it."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        needs = message_from_string(archive.read(name).decode()).get_all("Requires-Dist", [])
    read = map(Requirement, needs)
    return [
        f"{need.name}{need.specifier}" for need in read if need.marker is None or need.marker.evaluate({"extra": extra})
    ]

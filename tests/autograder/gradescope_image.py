"""Gradescope's part in a grading: an image built from an ``autograder.zip``, and ``run_autograder`` started in it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import container

#: Runs a command as Gradescope's harness does, and says what it left.
HARNESS = """
import json, os, resource, subprocess, sys, time

started = time.monotonic()
with open("/autograder/results/stdout", "wb") as out:
    status = subprocess.run(sys.argv[1:], stdout=out, stderr=subprocess.STDOUT, cwd="/autograder").returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds, left = time.monotonic() - started, []
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) in (1, os.getpid(), os.getppid()):
        continue
    try:
        state = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
        left += [] if state in "ZX" else [open(f"/proc/{pid}/cmdline").read().replace("\\0", " ")]
    except OSError:
        pass
print(json.dumps({"status": status, "seconds": seconds, "used": used.ru_utime + used.ru_stime, "left": left}))
"""


@dataclass(frozen=True)
class Graded:
    """What a run of ``run_autograder`` came to.

    Attributes:
        status: its exit status.
        seconds: that it took inside the container.
        used: processor time that it and its children took, seconds.
        left: command lines of processes that outlived it.
        stdout: what it printed, for the instructor.
        files: the names in ``results``.
        text: of ``results.json``.
        changed: whether ``source`` is another than before.
    """

    status: int
    seconds: float
    used: float
    left: tuple[str, ...]
    stdout: str
    files: tuple[str, ...]
    text: str
    changed: bool

    @property
    def results(self) -> dict[str, Any]:
        """The result that Gradescope takes."""
        return json.loads(self.text, parse_constant=_not_json)


def _not_json(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class Image:
    """An image that Gradescope has built from an ``autograder.zip``; every submission gets a fresh copy of it."""

    def __init__(self, archive: bytes, folder: Path, **rest: Any) -> None:
        """Build it in ``folder``; ``rest`` goes to every :func:`container.run`."""
        self.folder, self.rest = folder, rest
        for name in ("source", "submission", "results"):
            (folder / name).mkdir(parents=True)
        unpacked(archive, folder / "source")
        shutil.copy(folder / "source" / "run_autograder", folder)
        (folder / "run_autograder").chmod(0o755)
        self.built = self.inside("bash", "/autograder/source/setup.sh")

    def inside(self, *command: str, folder: Path | None = None, **rest: Any) -> subprocess.CompletedProcess[str]:
        """Run a command in a container of this image (``folder``: a copy of it)."""
        return container.run(command, {"/autograder": folder or self.folder}, **{**self.rest, **rest})

    def grade(self, files: Mapping[str, bytes | str], metadata: str = "{}", **rest: Any) -> Graded:
        """Hand in ``files`` (contents by path) and start ``run_autograder`` as Gradescope's harness does."""
        with tempfile.TemporaryDirectory(prefix="container-") as parent:
            here = Path(parent, "autograder")
            shutil.copytree(self.folder, here, symlinks=True)
            (here / "submission_metadata.json").write_text(metadata)
            for name, content in files.items():
                path = here / "submission" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
            before = _digest(here / "source")
            done = self.inside("/usr/bin/python3", "-c", HARNESS, "/autograder/run_autograder", folder=here, **rest)
            return _graded(here, done, before)


def _graded(here: Path, done: subprocess.CompletedProcess[str], before: str) -> Graded:
    try:
        said = json.loads(done.stdout)
    except ValueError:
        raise AssertionError(
            f"the harness failed (exit status {done.returncode}): {done.stdout}{done.stderr}"
        ) from None
    results = here / "results"
    return Graded(
        said["status"],
        said["seconds"],
        said["used"],
        tuple(said["left"]),
        (results / "stdout").read_text(errors="replace"),
        tuple(sorted(os.listdir(results))),
        (results / "results.json").read_text(),
        _digest(here / "source") != before,
    )


def unpacked(archive: bytes, folder: Path) -> None:
    """Unpack as ``unzip`` does, with the permissions that stand in the archive."""
    with zipfile.ZipFile(io.BytesIO(archive)) as source:
        for entry in source.infolist():
            os.chmod(source.extract(entry, folder), (entry.external_attr >> 16) & 0o777)


def _digest(folder: Path) -> str:
    """Of the names, permissions and contents in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(f"{path.relative_to(folder)} {path.lstat().st_mode:o}\0".encode())
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()

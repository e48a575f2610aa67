"""Builds ``autograder.zip`` for Gradescope: its two scripts, the parts of the course that grading needs, and the key.

The same inputs give the same bytes. Closed-form items need nothing but Python 3.11 or later in the image, which
``setup.sh`` installs with apt if it is missing; for items that need torch, ``setup.sh`` installs torch with pip.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder import bank, closure
from autograder.items import AnyQuestion, Build
from autograder.marking import report
from autograder.running.limits import Limits, budget_of
from autograder.sandbox import Level

HERE = Path(__file__).resolve().parents[1]

#: A script that finds a Python that is new enough and prints its path.
PYTHON = """\
#!/bin/sh
# Print the path of the Python to grade with: 3.11 or later, with the library modules that Debian packages separately.
for python in /opt/rankzero/bin/python python3 python3.14 python3.13 python3.12 python3.11; do
    if "$python" -c 'import sys, ctypes, zipfile; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        command -v "$python"
        exit 0
    fi
done
exit 1
"""

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.
cd "$(dirname "$0")" || exit 1
export DEBIAN_FRONTEND=noninteractive
if ! sh ./python.sh >/dev/null; then
    for version in 3.13 3.12 3.11; do
        apt-get install -y "python$version" >/dev/null 2>&1 && break
    done
fi
if ! python=$(sh ./python.sh); then
    echo "setup: grading needs Python 3.11 or later, which apt cannot install here: choose Ubuntu 22.04 or later" >&2
    exit 1
fi
"$python" -m compileall -q .
chmod -R go-rwx .
"""

#: The rest of ``setup.sh``, for items that need torch. The user who runs submissions can read the folder.
TORCH = """\
name="python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
if ! "$python" -m venv /opt/rankzero 2>/dev/null; then
    apt-get install -y python3-venv "$name-venv" >/dev/null 2>&1
    "$python" -m venv /opt/rankzero || { echo "setup: $name cannot create a virtual environment here" >&2; exit 1; }
fi
if ! /opt/rankzero/bin/pip install --quiet --no-cache-dir REQUIREMENTS; then
    echo "setup: pip cannot install REQUIREMENTS" >&2
    exit 1
fi
chmod -R a+rX /opt/rankzero
"""

RUN = """\
#!/bin/sh
# Grade one submission. A result is in place from the start, and the exit status is always 0.
umask 077
cd /autograder || exit 0
chmod 0700 source results
cp source/unfinished.json results/.results.json && mv results/.results.json results/results.json
if python=$(sh source/python.sh); then
    cd source && "$python" -E -s -B -m autograder.gradescope.inside
else
    echo "run_autograder: there is no Python 3.11 or later: did setup.sh succeed?" >&2
fi
exit 0
"""

#: Modules from which grading starts; what they import is packed too.
CHILD = [f"autograder.child.{path.stem}" for path in sorted(HERE.glob("child/[!_]*.py"))]
ROOTS = ("autograder.gradescope.inside", *CHILD)
#: Packages that tensor items need, under their names in ``constraints.txt``.
REQUIRED = ("torch", "numpy")
SECRET, PROGRAM, PLAIN = 0o600, 0o755, 0o644

Items = Sequence[Build | AnyQuestion]


def is_closed_form(item: Any) -> bool:
    """Whether the standard library is all that is needed to grade an item."""
    return not isinstance(item, Build) or budget_of(item) == "plain"


def archive(items: Items, key: bytes, level: Level = "required", requirements: Sequence[str] = ()) -> bytes:
    """The zip file that grades ``items`` with ``key``.

    Args:
        items: what is asked, with the points; items that are not closed-form need ``requirements``.
        key: the secret key from which hidden inputs are drawn. Whoever has the zip file has the key.
        level: ``required`` refuses to grade in a container that cannot isolate files and network; ``best`` does not.
        requirements: what pip installs in the image, such as ``["torch==2.13.0"]``.

    Raises:
        ValueError: an item needs torch and ``requirements`` are empty.
    """
    heavy = [item.id for item in items if not is_closed_form(item)]
    if heavy and not requirements:
        raise ValueError(f"requirements must name torch, since {heavy[0]} needs it; got none")
    chapters = chapters_of(items)
    parts = {name: path.read_bytes() for name, path in _sources(items, chapters).items()}
    settings = {
        "grader": f"{report.version()} ({_digest(parts)})",
        "sandbox": level,
        "chapters": chapters,
        "items": [item.id for item in items],
        "points": {item.id: item.points for item in items if isinstance(item, Build)},
        "topics": sorted({item.module for item in bank.builds()}),
    }
    files = {name: (data, PLAIN) for name, data in parts.items()}
    files |= {"exam.json": (_json(settings), PLAIN), "unfinished.json": (_json(report.unfinished()), PLAIN)}
    files |= {"key": (key + b"\n", SECRET), "python.sh": (PYTHON.encode(), PROGRAM)}
    files |= {"run_autograder": (RUN.encode(), PROGRAM), "setup.sh": (setup(requirements).encode(), PROGRAM)}
    return _zip(files)


def setup(requirements: Sequence[str] = ()) -> str:
    """The text of ``setup.sh``."""
    return SETUP + (TORCH.replace("REQUIREMENTS", " ".join(requirements)) if requirements else "")


def chapters_of(items: Items) -> list[str]:
    """The chapters of the bank that contain ``items``, in the order of the book."""
    wanted = {item.id for item in items}
    return [name for name in bank.CHAPTERS if wanted & {item.id for item in bank.of_chapter(name)}]


def minutes(items: Items) -> int:
    """The time limit to set for the assignment in Gradescope, minutes: it covers a submission's limits and start-up."""
    builds = [item for item in items if isinstance(item, Build)]
    limits, budgets = Limits.of(builds), {budget_of(item) for item in builds}
    seconds = 120.0 + limits.submission * ("plain" in budgets) + limits.tensors * ("tensors" in budgets)
    return next((choice for choice in (10, 20, 30) if seconds <= 60 * choice), 40)


def pins(constraints: str) -> list[str]:
    """The lines of ``constraints.txt`` that pin the packages that tensor items need.

    Raises:
        ValueError: one of the packages is not pinned.
    """
    found = {match[1]: match[0] for match in re.finditer(r"^([\w.-]+)==\S+$", constraints, re.MULTILINE)}
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        raise ValueError(f"constraints must pin {' and '.join(missing)}; they do not")
    return [found[name] for name in REQUIRED]


def _sources(items: Items, chapters: Iterable[str]) -> dict[str, Path]:
    """The files of the course to be packed, by their path in the zip file."""
    builds = [item for item in items if isinstance(item, Build)]
    roots = [*ROOTS, *(module for chapter in chapters for module in bank.modules(chapter))]
    roots += [f"solutions.{item.home}" for item in builds]
    roots += [f"autograder.probes.{item.probe.partition('.')[0]}" for item in builds if item.probe]
    return {path.relative_to(closure.ROOT).as_posix(): path for path in closure.modules(roots).values()}


def _digest(parts: Mapping[str, bytes]) -> str:
    """A short digest that identifies the packed sources."""
    digest = hashlib.sha256()
    for name, data in sorted(parts.items()):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:12]


def _json(content: Any) -> bytes:
    return (json.dumps(content, allow_nan=False, indent=1) + "\n").encode()


def _zip(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """A zip archive whose bytes depend only on ``files``, which maps paths to content and permissions."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name, (data, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # 3 is Unix, whatever system packs it
            entry.external_attr = (stat.S_IFREG | mode) << 16
            target.writestr(entry, data)
    return buffer.getvalue()

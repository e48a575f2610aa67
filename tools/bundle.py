"""What runs and is read in the browser, as JSON files: path -> text, of Python modules and of their data.

``python.json`` is for explorers; ``check.json`` for the check of functions that are plain Python; ``cells.json`` holds
what cells need beyond it to run with the reader's functions (:mod:`tools.own_runs`); ``ranks.json`` is for the worker
of a rank of the page, and ``broker.json`` is what the worker of their broker needs beyond ``check.json``; ``labs.json``
holds the files into which a reader's functions are put when they are downloaded. ``start.json`` holds the version of
Pyodide, the bytes of Pyodide and of each bundle with which Python starts, which a page shows while a reader waits, and
a stamp that changes with what a picture of Python's memory holds (``book/_static/python-start.js``).
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import cloudpickle

from autograder import bank, closure, syntax
from autograder.items import Build
from autograder.learner import workbench
from autograder.marking import probing
from tools.common import ROOT
from tools.vendor import versions

PACKAGES = ("experiments", "solutions", "rankzero")
#: The files of Pyodide that its start fetches, beside its scripts.
PYODIDE = ("pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: The bundles with which Python starts.
STARTS = ("python.json", "check.json", "ranks.json", "broker.json")
#: The bundles whose modules a picture of Python's memory holds.
HOUSE = ("check.json", "broker.json")
#: Modules of worlds in whose place a page has others (:mod:`autograder.page.install`).
REPLACED = frozenset(
    {
        *(f"rankzero.world.{name}" for name in ("launch", "supervisor", "forkserver", "processes", "rank")),
        *(f"rankzero.world.{name}" for name in ("environment", "shared_weights", "torch_version")),
    }
)


def collect(starts: list[str], root: Path = ROOT) -> dict[str, str]:
    """The texts, by path, of ``starts``, the course modules they import, and the JSON files in ``data`` beside them.

    Raises:
        ValueError: a module imports something that the browser does not have; the message names both.
    """

    def loads(module: str) -> Sequence[str]:
        file = closure.file_of(module, PACKAGES, root)
        names = closure.loads(module, file) if file else ()
        for top in (name.partition(".")[0] for name in names):
            if top not in PACKAGES and top not in sys.stdlib_module_names:
                raise ValueError(f"{module} runs in the browser and imports {top}: only the standard library works")
        return names

    return _with_data(syntax.reached(starts, loads), root)


def _with_data(modules: Iterable[str], root: Path) -> dict[str, str]:
    """The texts, by path, of those modules that are the course's, and of the JSON files in ``data`` beside them."""
    files = {file for name in modules if (file := closure.file_of(name, PACKAGES, root))}
    files |= {data for file in files for data in (file.parent / "data").glob("*.json")}
    return {file.relative_to(root).as_posix(): _text(file) for file in sorted(files)}


def explorers(root: Path = ROOT) -> list[str]:
    """The modules whose functions draw explorers, and the one that holds calculators."""
    found = sorted((root / "experiments").glob("ch*/*explorers.py"))
    sheets = ["experiments.calculators"] if (root / "experiments" / "calculators.py").exists() else []
    return [f"experiments.{path.parent.name}.{path.stem}" for path in found] + sheets


def checks() -> dict[str, str]:
    """The modules that ``check`` needs for every item of plain Python, by path."""
    items = [item for item in bank.builds() if workbench.plain(item)]
    roots = ["autograder.learner.in_page", "autograder.learner.own_run", "autograder.learner.work_files"]
    roots += [module for chapter in bank.CHAPTERS for module in bank.modules(chapter)]
    roots += [f"solutions.{item.home}" for item in items]
    roots += [f"autograder.probes.{probing.module(item.probe)}" for item in items if item.probe]
    files = closure.modules(roots).values()
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def labs(root: Path = ROOT) -> dict[str, str]:
    """The files of ``labs``, by path."""
    return {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in (root / "labs").rglob("*.py")
    }


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _course(roots: Iterable[str]) -> dict[str, str]:
    """The texts, by path, of modules of the course and of what they import, without what a page replaces."""
    found = closure.modules(roots).items()
    return {file.relative_to(ROOT).as_posix(): _text(file) for name, file in found if name not in REPLACED}


def _torch() -> dict[str, str]:
    """What stands in for torch, and cloudpickle, which packs the functions of a cell."""
    stand_in = sorted((ROOT / "autograder" / "page" / "stand_in").rglob("*.py"))
    pickles = sorted(Path(cloudpickle.__file__).parent.glob("*.py"))
    found = {file.relative_to(ROOT).as_posix(): _text(file) for file in stand_in}
    return found | {f"cloudpickle/{file.name}": _text(file) for file in pickles}


def _probes(items: Iterable[Build]) -> set[str]:
    return {f"autograder.probes.{probing.module(item.probe)}" for item in items if item.probe}


def worlds_of_pages() -> list[Build]:
    """The items that run as several ranks in a page."""
    return [item for item in bank.builds() if workbench.in_ranks(item)]


def ranks(worlds: Iterable[str] = ()) -> dict[str, str]:
    """What the worker of a rank needs; ``worlds`` are the modules that cells which run worlds import."""
    files = [f"autograder.child.{file.stem}" for file in (ROOT / "autograder" / "child").glob("[!_]*.py")]
    own = ["autograder.page.rank", "autograder.page.recorded_group"]
    start = ROOT / "autograder" / "page" / "start.py"  # what it imports for the broker is not needed here
    modules = _course([*own, *files, *_probes(worlds_of_pages())])
    return modules | _with_data(worlds, ROOT) | _torch() | {start.relative_to(ROOT).as_posix(): _text(start)}


def broker(worlds: Iterable[str] = ()) -> dict[str, str]:
    """What the worker of the broker needs: the grader, the items of several ranks, and all that a rank needs."""
    items = worlds_of_pages()
    roots = {
        "autograder.page.start",
        *(f"solutions.{item.home}" for item in items),
        *(bank.home(item.id) for item in items),
    }
    return _course(sorted(roots)) | ranks(worlds)


def beyond(files: dict[str, str], others: dict[str, str]) -> dict[str, str]:
    """The files that others do not hold, or hold with another text."""
    return {path: text for path, text in files.items() if others.get(path) != text}


def write(folder: Path, cells: Iterable[str] = (), worlds: Iterable[str] = ()) -> None:
    """Write each bundle, and what a start of Python fetches; ``cells`` are the modules that cells of pages import,
    ``worlds`` those of cells that run worlds."""
    folder.mkdir(parents=True, exist_ok=True)
    check = checks()
    more = {path: text for path, text in collect(sorted(cells)).items() if path not in check}
    for name, files in {"python": collect(explorers()), "check": check, "cells": more, "labs": labs()}.items():
        _replace(folder / f"{name}.json", json.dumps(files))
    for name, files in {"ranks": ranks(worlds), "broker": beyond(broker(worlds), check)}.items():
        _replace(folder / f"{name}.json", json.dumps(files))
    totals = {name: (folder / name).stat().st_size for name in STARTS}
    totals["pyodide"] = sum(path.stat().st_size for name in PYODIDE if (path := folder / "pyodide" / name).exists())
    house = hashlib.sha256(b"".join((folder / name).read_bytes() for name in HOUSE)).hexdigest()[:12]
    told = {"bytes": totals, "version": versions()["pyodide"], "house": house}
    _replace(folder / "start.json", json.dumps(told))


def _replace(target: Path, text: str) -> None:
    """Write a file atomically; one that already holds ``text`` stays, so that nothing is copied again."""
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return
    fresh = target.with_suffix(f".{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(target)

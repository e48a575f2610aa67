"""What runs and is read in the browser, as JSON files: path -> text, of Python modules and of their data.

``python.json`` is for explorers; ``check.json`` for the check of functions that are plain Python; ``cells.json`` holds
what cells need beyond it to run with the reader's functions (:mod:`tools.own_runs`); ``labs.json`` holds the files into
which a reader's functions are put when they are downloaded. ``start.json`` holds the version of Pyodide and, for each
bundle, the bytes that a start with it fetches, which the page shows while a reader waits.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder import bank, closure
from autograder.closure import imported, parents
from autograder.items import Build
from autograder.learner import in_page, workbench
from autograder.marking import probing
from rankzero.facts import chapters
from tools.common import ROOT
from tools.vendor import versions

PACKAGES = ("experiments", "solutions", "rankzero")
#: The files of Pyodide that its start fetches, beside its scripts.
PYODIDE = ("pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def _file(module: str, root: Path) -> Path | None:
    """The source file of a module of the course; None for any other module."""
    if module.split(".")[0] not in PACKAGES:
        return None
    path = root / module.replace(".", "/")
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


def collect(starts: list[str], root: Path = ROOT) -> dict[str, str]:
    """The texts, by path, of ``starts``, the course modules they import, and the JSON files in ``data`` beside them.

    Raises:
        ValueError: a module imports something that the browser does not have; the message names both.
    """
    files: set[Path] = set()
    waiting = [*starts]
    while waiting:
        module = waiting.pop()
        file = _file(module, root)
        if file is None or file in files:
            continue
        files |= {file, *(file.parent / "data").glob("*.json")}
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        for name in (*parents(module), *imported(file.read_text(encoding="utf-8"), package)):
            top = name.split(".")[0]
            if top not in PACKAGES and top not in sys.stdlib_module_names:
                raise ValueError(f"{module} runs in the browser and imports {top}: only the standard library works")
            waiting.append(name)
    return {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in sorted(files)}


def explorers(root: Path = ROOT) -> list[str]:
    """The modules whose functions draw explorers."""
    found = sorted((root / "experiments").glob("ch*/*explorers.py"))
    return [f"experiments.{path.parent.name}.{path.stem}" for path in found]


def checks() -> dict[str, str]:
    """The modules that ``check`` needs for every item of plain Python, by path."""
    items = [item for item in bank.builds() if workbench.plain(item)]
    roots = ["autograder.learner.in_page", "autograder.learner.own_run", "autograder.learner.work_files"]
    roots += [f"autograder.bank.{chapter}.items" for chapter in bank.CHAPTERS]
    roots += [f"solutions.{item.home}" for item in items]
    roots += [f"autograder.probes.{probing.module(item.probe)}" for item in items if item.probe]
    files = closure.modules(roots).values()
    texts = {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}
    return {**texts, in_page.HOMES.relative_to(ROOT).as_posix(): json.dumps(homes(items))}


def homes(items: Iterable[Build]) -> dict[str, str]:
    """The module of the bank that holds each item, by id: a check in the page imports that one alone."""
    return {item.id: _home(item) for item in items}


def _home(item: Build) -> str:
    """The module that defines an item; the list of the chapter, which imports all others, only if none of them does."""
    package = f"autograder.bank.{chapters.of_item(item.id).package}."
    names = sorted((name for name in sys.modules if name.startswith(package)), key=lambda name: name.endswith(".items"))
    return next(name for name in names if item.id in in_page.held(sys.modules[name]))


def labs(root: Path = ROOT) -> dict[str, str]:
    """The files of ``labs``, by path."""
    return {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in (root / "labs").rglob("*.py")
    }


def write(folder: Path, cells: Iterable[str] = ()) -> None:
    """Write each bundle, and what a start of Python fetches; ``cells`` are the modules that cells of pages import."""
    folder.mkdir(parents=True, exist_ok=True)
    check = checks()
    more = {path: text for path, text in collect(sorted(cells)).items() if path not in check}
    for name, files in {"python": collect(explorers()), "check": check, "cells": more, "labs": labs()}.items():
        _replace(folder / f"{name}.json", json.dumps(files))
    always = sum(path.stat().st_size for name in PYODIDE if (path := folder / "pyodide" / name).exists())
    totals = {name: always + (folder / name).stat().st_size for name in ("python.json", "check.json")}
    _replace(folder / "start.json", json.dumps({"bytes": totals, "version": versions()["pyodide"]}))


def _replace(target: Path, text: str) -> None:
    """Write a file atomically; one that already holds ``text`` stays, so that nothing is copied again."""
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return
    fresh = target.with_suffix(f".{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(target)

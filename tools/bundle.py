"""The Python modules that explorers run in the browser, as one JSON file: module name -> source."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from autograder.closure import imported, parents
from tools.common import ROOT

PACKAGES = ("experiments", "solutions", "rankzero")


def _file(module: str, root: Path) -> Path | None:
    """The source file of one of our modules; None for anybody else's."""
    if module.split(".")[0] not in PACKAGES:
        return None
    path = root / module.replace(".", "/")
    return next((p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()), None)


def collect(starts: list[str], root: Path = ROOT) -> dict[str, str]:
    """The sources of ``starts`` and of everything of ours that they import.

    Raises:
        ValueError: one of them imports what a browser does not have; the message names both.
    """
    sources: dict[str, str] = {}
    waiting = [*starts]
    while waiting:
        module = waiting.pop()
        file = _file(module, root)
        if file is None or module in sources:
            continue
        sources[module] = file.read_text(encoding="utf-8")
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        for name in (*parents(module), *imported(sources[module], package)):
            top = name.split(".")[0]
            if top not in PACKAGES and top not in sys.stdlib_module_names:
                raise ValueError(f"{module} runs in the browser and imports {top}: only the standard library is there")
            waiting.append(name)
    return dict(sorted(sources.items()))


def explorers(root: Path = ROOT) -> list[str]:
    """The modules whose functions draw explorers."""
    found = sorted((root / "experiments").glob("ch*/*explorers.py"))
    return [f"experiments.{path.parent.name}.{path.stem}" for path in found]


def write(target: Path) -> None:
    """Write the bundle of all explorers, in one step."""
    fresh = target.with_suffix(f".{os.getpid()}")
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh.write_text(json.dumps(collect(explorers())), encoding="utf-8")
    fresh.replace(target)

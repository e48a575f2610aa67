"""How the tests run a demo."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import demos


def run(name: str, *arguments: str) -> int:
    """The exit status of a demo."""
    return importlib.import_module(demos.names()[name]).main(list(arguments))


def table(tmp_path: Path, name: str, *arguments: str, status: int = 0) -> list[dict[str, str]]:
    """The table that a demo saves, row by row."""
    target = tmp_path / "table.csv"
    assert run(name, "--save", str(target), *arguments) == status
    with target.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))

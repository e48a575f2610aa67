"""Stored results of runs that take minutes, as JSON: the command that produces them, the columns, and one row per line.

A file lives in the folder ``data`` beside the module that reads it, in a checkout, an installation and a browser alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def read(file: Path) -> tuple[tuple[Any, ...], ...]:
    """The rows of a stored table."""
    return tuple(map(tuple, json.loads(file.read_text(encoding="utf-8"))["rows"]))


def write(file: Path, command: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Store a table, all or nothing: an existing file is replaced only after the last row has been computed.

    Args:
        file: where :func:`read` finds it.
        command: the command that produces the file.
        columns: what the values of a row mean, with their units.
        rows: values that JSON can represent.

    Raises:
        ValueError: the number of values in a row differs from the number of columns.
    """
    lines = []
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"rows must have {len(columns)} values, one per column, got {row!r}")
        lines.append(json.dumps(row))
    head = f'"command": {json.dumps(command)},\n"columns": {json.dumps(columns)}'
    draft = file.with_suffix(".part")
    draft.write_text(f'{{\n{head},\n"rows": [\n' + ",\n".join(lines) + "\n]\n}\n", encoding="utf-8")
    draft.replace(file)

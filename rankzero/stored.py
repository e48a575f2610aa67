"""Stored results of runs that take minutes, as JSON: the command that produces them, the columns, and one row per line.

A file lives in the folder ``data`` beside the module that reads it, in a checkout, an installation and a browser alike.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def made_on(file: Path) -> str:
    """The device and the versions that a table says it was made on; empty if it does not say."""
    return json.loads(file.read_text(encoding="utf-8")).get("made on", "")


def read(file: Path) -> tuple[tuple[Any, ...], ...]:
    """The rows of a stored table."""
    return tuple(map(tuple, json.loads(file.read_text(encoding="utf-8"))["rows"]))


def write(file: Path, command: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], made_on: str = "") -> None:
    """Store a table, all or nothing: an existing file is replaced only after the last row has been computed.

    Args:
        file: where :func:`read` finds it.
        command: the command that produces the file.
        columns: what the values of a row mean, with their units.
        rows: values that JSON can represent.
        made_on: the device and the versions, where the result depends on them.

    Raises:
        ValueError: the number of values in a row differs from the number of columns.
    """
    lines = []
    for row in rows:
        if len(row) != len(columns):
            raise ValueError(f"rows must have {len(columns)} values, one per column, got {row!r}")
        lines.append(json.dumps(row))
    head = f'"command": {json.dumps(command)},\n"columns": {json.dumps(columns)}'
    head += f',\n"made on": {json.dumps(made_on)}' if made_on else ""
    draft = file.with_suffix(".part")
    draft.write_text(f'{{\n{head},\n"rows": [\n' + ",\n".join(lines) + "\n]\n}\n", encoding="utf-8")
    draft.replace(file)

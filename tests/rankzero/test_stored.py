"""Stored tables: read as they were written, whole or not at all, each with the command that writes it."""

from __future__ import annotations

import json
import re

import pytest

import demos
from rankzero import stored
from tools.common import ROOT

FILES = sorted(file for room in ("experiments", "solutions") for file in (ROOT / room).glob("ch*/data/*.json"))
ROWS = ((0.1, "a film", None), (2, 'with "quotes"', True))


def test_there_and_back(tmp_path):
    """One row per line, so that a new run shows as a small diff."""
    file = tmp_path / "table.json"
    stored.write(file, "python -m demos ring", ("x", "y", "z"), iter(ROWS))
    assert stored.read(file) == ROWS
    assert [json.loads(line.rstrip(",")) for line in file.read_text().splitlines()[4:6]] == [list(row) for row in ROWS]


def test_the_old_file_survives_a_failure(tmp_path):
    """Kills a store that is empty after the run that was to renew it has failed."""
    file = tmp_path / "table.json"
    stored.write(file, "python -m demos ring", ("x",), [(1,)])
    with pytest.raises(ValueError, match=r"rows must have 1 values, one per column, got \(2, 3\)"):
        stored.write(file, "python -m demos ring", ("x",), [(1,), (2, 3)])
    assert stored.read(file) == ((1,),)
    assert [path.name for path in tmp_path.iterdir()] == ["table.json"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_command_is_there(file):
    """Kills a file whose command has been renamed: it names a demo or a program of the repository that can store."""
    command = json.loads(file.read_text(encoding="utf-8"))["command"]
    found = re.fullmatch(r"python (?:-m demos (\w+)|(benchmarks/\w+\.py)) --store", command)
    assert found, command
    program = ROOT / (found[2] or f"{demos.names()[found[1]].replace('.', '/')}.py")
    assert '"--store"' in program.read_text(encoding="utf-8")

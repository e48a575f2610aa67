"""How the tests run a demo."""

from __future__ import annotations

import argparse
import contextlib
import csv
import functools
import importlib
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import demos
from demos import common


def run(name: str, *arguments: str) -> int:
    """The exit status of a demo."""
    return importlib.import_module(demos.names()[name]).main(list(arguments))


def table(tmp_path: Path, name: str, *arguments: str, status: int = 0) -> list[dict[str, str]]:
    """The table that a demo saves, row by row."""
    target = tmp_path / "table.csv"
    assert run(name, "--save", str(target), *arguments) == status
    with target.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@dataclass(frozen=True)
class Quick:
    """What a quick run ends with: its status, what it printed, the table's rows, and every file that it left; whether
    it drew a picture."""

    status: int
    said: str
    rows: list[dict[str, str]]
    files: set[str]
    pictured: bool


@functools.cache
def few(name: str) -> tuple[str, ...]:
    """Two ranks for a demo that takes a number of them: tests of its chapter run it with more."""
    parser, _ = command_line(name)
    return ("--ranks", "2") if any(option.dest == "ranks" and option.default for option in parser._actions) else ()


@functools.cache
def quick(name: str) -> Quick:
    """The quick run of a demo that saves its table and draws its picture if it has one: once for all tests."""
    said, drawn = io.StringIO(), []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        target = Path(folder, "table.csv")

        def show(arguments, table, picture=None):
            common.show(arguments, table, picture)
            if picture:
                drawn.append(picture())

        patch.setattr(importlib.import_module(demos.names()[name]), "show", show)
        with contextlib.redirect_stdout(said):
            status = run(name, "--quick", "--save", str(target), *few(name))
        rows = list(csv.DictReader(target.read_text("utf-8").splitlines()))
        files = {file.name for file in target.parent.iterdir()}
    return Quick(status, said.getvalue(), rows, files, any(hasattr(one, "savefig") for one in drawn))


def refused(name: str, *arguments: str) -> str:
    """The line in which a demo refuses a command."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), pytest.raises(SystemExit) as end:
        run(name, *arguments)
    assert end.value.code == 2
    (line,) = said.getvalue().splitlines()
    assert ": error: " in line
    return line


class ReadError(Exception):
    """The command line was read without a complaint."""


def command_line(name: str, *arguments: str) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    """The parser of a demo, and what it makes of a command that it understands; nothing runs."""

    def parse(parser, argv):
        raise ReadError(parser, super(common.OneLine, parser).parse_args(argv))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(common.OneLine, "parse_args", parse)
        with pytest.raises(ReadError) as read:
            run(name, *arguments)
    return read.value.args

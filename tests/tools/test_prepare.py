"""Setting up a machine: an old Python makes nothing, and an environment that is not whole is made anew."""

from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tools import prepare
from tools.common import ROOT


def program(path, line: str) -> str:
    """A program of one line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return str(path)


def test_an_old_python_makes_nothing(tmp_path, monkeypatch, capsys):
    """Kills: a ``.venv`` of Python 3.10, which every later run takes for the right one."""
    monkeypatch.setattr(prepare, "OLDEST", (99, 0))
    assert prepare.environment(tmp_path) == 1
    assert capsys.readouterr().err.startswith("Rank Zero needs Python 3.11 or later, got 3.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("python", "said"),
    [
        (sys.executable, ""),
        ("", "Rank Zero needs Python 3.11 or later: install it, or name it: make book PYTHON=python3.12\n"),
        ("no-python", "Rank Zero needs Python 3.11 or later, which no-python is not: install it, or name it: make"),
        ("false", "Rank Zero needs Python 3.11 or later, which false is not: install it, or name it: make"),
    ],
)
def test_make_refuses_a_python_that_is_named_as_well(python, said):
    recipe = re.search(r"^python:\n\t@(.+?)\n\n", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M | re.S)[1]
    command = recipe.replace("$(PYTHON)", python).replace("$$", "$")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr[: len(said)]) == (1 if said else 0, said)
    assert bool(done.stderr) == bool(said)


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        (f'echo "pip 24.0 from /x/pip (python {prepare.HERE})"', True),
        ('echo "pip 24.0 from /x/pip (python 3.1)"', False),
        ("echo No module named pip >&2; exit 1", False),
        (None, False),
    ],
)
def test_an_environment_that_is_not_whole_is_made_anew(tmp_path, monkeypatch, line, whole):
    """Kills: one that was interrupted, one without pip and one of another Python, which no later run mends."""
    python = tmp_path / ".venv" / "bin" / "python"
    if line:
        program(python, line)
    assert prepare.whole(python) == whole
    ran, run = [], subprocess.run

    def recorded(command, **more):
        ran.append(command)
        return run(command, **more) if "--version" in command else SimpleNamespace(returncode=0)

    monkeypatch.setattr(prepare.subprocess, "run", recorded)
    assert prepare.environment(tmp_path) == 0
    made = [command for command in ran if "venv" in command]
    assert made == ([] if whole else [[sys.executable, "-m", "venv", "--clear", str(tmp_path / ".venv")]])


def test_the_package_is_that_of_the_python_that_runs():
    """Kills: ``python3-venv``, which brings nothing to a Python that is not Debian's own."""
    version = ".".join(map(str, sys.version_info[:2]))
    assert f"python{version}-venv" in {need.package for need in prepare.NEEDS}

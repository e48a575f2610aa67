"""A demo gets a wrong part in the place of a right one."""

from __future__ import annotations

import importlib

import pytest
from demo_runs import run

import demos


@pytest.fixture
def replaced(monkeypatch):
    """``replaced("ring", "ring_all_reduce", change)``: the demo gets what ``change`` makes of the right part."""

    def replace(demo: str, name: str, change) -> None:
        module = importlib.import_module(demos.names()[demo])
        right = module.part

        def part(code: str, place: str, asked: str):
            return change(right(code, place, asked)) if asked == name else right(code, place, asked)

        monkeypatch.setattr(module, "part", part)

    return replace


@pytest.fixture
def found_out(replaced, capsys):
    """The demo with the wrong part ends with status 1 and says that its check does not hold."""

    def check(demo: str, name: str, change, *arguments: str) -> str:
        replaced(demo, name, change)
        assert run(demo, *arguments) == 1
        said = capsys.readouterr().out
        assert ": NO\n" in said
        return said

    return check

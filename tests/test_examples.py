"""The examples of docstrings, run as they are printed."""

from __future__ import annotations

import doctest
import importlib
import re

import pytest

from tools.common import ROOT

ROOMS = ("rankzero", "solutions", "experiments", "autograder", "tools")
EXAMPLE = re.compile(r"^\s*>>> ", re.MULTILINE)


def modules(room: str) -> list[str]:
    """The modules of a room whose docstrings show what a call returns."""
    files = (path.relative_to(ROOT) for path in sorted((ROOT / room).rglob("*.py")) if has_example(path))
    return [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]


def has_example(path) -> bool:
    return bool(EXAMPLE.search(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("room", ROOMS)
def test_examples_are_right(room):
    """Kills a formula that was mended and left its example behind."""
    found = {name: doctest.testmod(importlib.import_module(name)) for name in modules(room)}
    assert sum(one.attempted for one in found.values()) >= len(found) > 0
    assert [name for name, one in found.items() if one.failed] == []

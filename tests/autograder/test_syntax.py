"""Syntax trees, read by several threads at once."""

from __future__ import annotations

import ast
import gc
import sys
import threading

import pytest

from autograder import syntax

SOURCE = "x = " + "(" * 40 + "1" + ")" * 40 + "\n" + "y = f(a + b * (c - [d, (e, g)]))\n" * 30


class Interrupting:
    """Garbage whose collection runs Python code, in which another thread may take its turn."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(300))


@pytest.fixture
def restless():
    """Threads change often, and garbage is collected all the time."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50, 2, 2)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


@pytest.mark.proof(part="guides")
def test_threads_that_parse_together_do_not_disturb_each_other(restless):
    """Kills plain ``ast.parse``: on CPython 3.11 half a dozen of these 240 end in SystemError."""
    trees: list[str] = []

    def parse() -> None:
        for _ in range(30):
            Interrupting()
            trees.append(ast.dump(syntax.parse(SOURCE)))

    threads = [threading.Thread(target=parse) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(trees) == 240
    assert set(trees) == {ast.dump(ast.parse(SOURCE))}


def test_what_is_no_python_is_refused_and_the_next_is_read():
    with pytest.raises(SyntaxError):
        syntax.parse("def (")
    assert isinstance(syntax.parse("x = 1").body[0], ast.Assign)


# What a definition needs.

MODULE = """
import math
from typing import Any, Literal

#: Not needed by f.
OTHER, LAST = 1, 2
Kind: Any = Literal["a", "b"]


@math.trunc
def _helper(x, late=OTHER):
    return f(x) + g(x)


def g(x):
    return x


def f(x, g=1):
    later = _helper
    return later(x, g) + math.pi


class C:
    kind: Kind
"""


def names(nodes):
    return [sorted(syntax.bound(node)) for node in nodes]


def test_definitions_are_functions_classes_and_constants():
    """Kills: an import, or a part of an expression, that counts as a definition."""
    assert {*syntax.definitions(ast.parse(MODULE))} == {"OTHER", "LAST", "Kind", "_helper", "g", "f", "C"}


@pytest.mark.parametrize(
    ("start", "needed"),
    [
        ("C", [["Kind"], ["C"]]),
        ("g", [["g"]]),
        ("f", [["LAST", "OTHER"], ["_helper"], ["g"], ["f"]]),
        ("_helper", [["LAST", "OTHER"], ["_helper"], ["g"], ["f"]]),
    ],
)
def test_a_definition_needs_what_it_reads(start, needed):
    """Kills: a walk that stops after one step, runs in a circle, or has another order than the module."""
    assert names(syntax.needed(ast.parse(MODULE), [start])) == needed


def test_names_of_its_own_are_none_that_a_function_needs():
    """Kills: a parameter taken for the function of that name."""
    tree = ast.parse("def g():\n    pass\n\n\ndef f(g):\n    return [g for _ in g]\n")
    assert names(syntax.needed(tree, ["f"])) == [["f"]]


def test_only_some_names_count():
    tree = ast.parse(MODULE)
    assert names(syntax.needed(tree, ["f"], lambda name: name.startswith("_"))) == [["_helper"], ["f"]]
    with pytest.raises(KeyError):
        syntax.needed(tree, ["nothing"])


def test_an_import_keeps_what_is_used():
    first, second = ast.parse("import a.b, c as d\nfrom ..e import f, g as h\n").body
    assert ast.unparse(syntax.trimmed(first, {"a"})) == "import a.b"
    assert ast.unparse(syntax.trimmed(second, {"h", "d"})) == "from ..e import g as h"


def test_a_definition_begins_with_its_decorators():
    tree = ast.parse("\n@one\n@two\nclass C:\n    pass\nx = 1\n")
    assert [syntax.first_line(node) for node in tree.body] == [2, 6]

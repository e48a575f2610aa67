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

"""``predict`` says of an answer that a grader could not read that it is one, where it is typed, and of no other."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.learner import handing_in

GET = "from autograder import predict"


@pytest.mark.parametrize(
    "cells",
    [
        [GET, 'predict("03-x", 7)'],
        [GET, "x = 2 * 7", 'predict("03-x", x)'],
        ["import autograder", 'autograder.predict("03-x", 7)'],
        ["from autograder import predict as ask", 'ask("03-x", "b")'],
        [GET, '%time predict("03-x", 7)'],
        [GET, 'if True:\n    predict("03-x", 7)'],
        [GET, "x = f(", 'predict("03-x", 7)'],
    ],
)
def test_a_readable_answer_is_no_matter(cells):
    assert handing_in.readable("03-x", cells)


@pytest.mark.parametrize(
    "cells",
    [
        [GET, "x = ring(8)", 'predict("03-x", x)'],
        [GET, 'for name in ["03-x"]:\n    predict(name, 7)'],
        [GET, "def ask(name, answer):\n    predict(name, answer)", 'ask("03-x", 7)'],
        [GET, 'predict("03-x", 7)', "import math", 'predict("03-x", math.sqrt(49))'],
        [GET, 'predict("03-x", 7)', "exec(\"predict('03-x', 8)\")"],
    ],
)
def test_an_unreadable_one_is(cells):
    assert not handing_in.readable("03-x", cells)


def test_outside_a_notebook_nothing_is_said(capsys, monkeypatch):
    monkeypatch.setattr(handing_in, "_cells", list)
    handing_in.warn("03-x")
    assert capsys.readouterr().out == ""


def test_a_notebook_says_it_once_and_only_then(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKZERO_DATA", str(tmp_path))
    monkeypatch.delenv("RANKZERO_BOOK", raising=False)
    cells = ["from autograder import predict", 'predict("03-race", "a")', 'predict("03-race", min("a", "b"))']
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(page, timeout=120, kernel_name="python3").execute()
    texts = ["".join(one.get("text", "") for one in cell.outputs) for cell in page.cells]
    assert [text.count(handing_in.UNREADABLE) for text in texts] == [0, 0, 1]

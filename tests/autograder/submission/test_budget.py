"""A file of very many small statements is refused in one sentence, before the grader builds a tree of it."""

from __future__ import annotations

import json
import time

import pytest
from written_files import cells

from autograder import syntax
from autograder.submission import Unreadable, load, magics, notebook
from tools.build_book import notebooks

MANY = {
    "statements": "a\n" * 350_000,
    "semicolons": "a;" * 350_000,
    "calls": "a()\n" * 70_000,
    "names": "x = [" + "a," * 200_000 + "]\n",
    "brackets": "x = [" + "[]," * 200_000 + "]\n",
    "texts": "x = [" + "''," * 200_000 + "]\n",
    "indented": "if a:\n" + "  a\n" * 200_000,
}


@pytest.mark.parametrize("head", ["", "# %%\n", "predict\n"])
@pytest.mark.parametrize("kind", MANY)
def test_very_many_small_pieces_are_refused(kind, head, tmp_path):
    """Kills a grader that takes half a gigabyte for one learner's file."""
    (tmp_path / "big.py").write_text(head + MANY[kind])
    with pytest.raises(Unreadable, match=r"^big\.py holds more code than a submission needs: hand in your labs alone$"):
        load(tmp_path / "big.py")


def test_in_a_notebook_too(tmp_path):
    cells = [{"cell_type": "code", "source": "a\n" * 20_000} for _ in range(4)]
    (tmp_path / "big.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    with pytest.raises(Unreadable, match="more code than a submission needs"):
        load(tmp_path / "big.ipynb")


def test_no_tree_is_built_of_it():
    assert syntax.tree_of(MANY["statements"]) is None


def test_the_whole_course_in_one_file_is_read(tmp_path):
    """Kills a budget that honest work exceeds; blank lines are no statements."""
    code = [
        "".join(cell["source"]).replace("%", "#")
        for path in notebooks()
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    source = "\n\n".join(code) + "\n" * 60_000
    (tmp_path / "all.py").write_text(source, encoding="utf-8")
    assert load(tmp_path / "all.py").units


GLOBALS = [f"a{number}" for number in range(4_000)]
#: Cells of which every line would take as long as there are lines.
LONG = {
    "functions": "".join(f"def f{number}(): f{number - 1}()\n" for number in range(8_000)),
    "globals": f"def f():\n global {', '.join(GLOBALS)}\n {' = '.join(GLOBALS)} = 1\n"
    + "".join(f"def g{number}(): f()\n" for number in range(4_000)),
    "scopes": "def f():\n " + "".join(f"a{n} = " for n in range(6_000)) + "[" + "lambda: 0, " * 6_000 + "]\n",
    "cell magics": "%%time\n" * 40_000,
    "texts without an end": '"""\n' + '\\"""\n' * 10_000 + "\\",
}


@pytest.mark.parametrize("kind", LONG)
def test_a_long_cell_is_read_in_time(kind):
    """Kills a reader whose time grows with the square of the lines: a minute and more of the grader's own."""
    began = time.thread_time()
    notebook.parts("a.ipynb", cells(LONG[kind]))
    magics.without_magics(LONG[kind])
    assert time.thread_time() - began < 8.0

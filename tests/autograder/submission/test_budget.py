"""A file of very many small statements is refused in one sentence, before the grader builds a tree of it."""

from __future__ import annotations

import json

import pytest

from autograder import syntax
from autograder.submission import Unreadable, load
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

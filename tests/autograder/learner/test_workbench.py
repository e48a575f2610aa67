"""What the page's workbench begins with."""

from __future__ import annotations

import ast

import nbformat
import pytest

from autograder import bank
from autograder.learner import workbench
from tools import stubs
from tools.build_book import notebooks
from tools.common import ROOT

PLAIN = [item for item in bank.builds() if workbench.plain(item)]
RANKS = [item for item in bank.builds() if workbench.in_ranks(item)]
ELSEWHERE = [item for item in bank.builds() if not workbench.plain(item)]


def stub(item) -> str:
    return stubs.cell((ROOT / "solutions" / item.file).read_text(encoding="utf-8"), item)


def without_docstrings(source: str) -> str:
    """The program alone, by its syntax tree."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


@pytest.mark.parametrize("item", [*PLAIN, *RANKS], ids=lambda item: item.id)
def test_a_starter_is_the_stub_without_its_docstrings(item):
    """Kills a starter that loses a line of the program, keeps a docstring, or is wider than the page."""
    text = workbench.starter(stub(item))
    assert ast.unparse(ast.parse(text)) == without_docstrings(stub(item))
    heads = [line for line in text.splitlines() if line.lstrip().startswith("def ")]
    assert max((len(line) for line in heads), default=0) <= workbench.WIDTH


def test_cells_in_colab():
    """The link leads to a cell that exists: the stub's, in the notebook of the item's chapter."""
    cells = {
        cell.metadata["rankzero"]["id"]: cell.id
        for path in notebooks()
        for cell in nbformat.read(path, as_version=4).cells
        if "exercise" in cell.metadata.get("tags", ())
    }
    assert {item.id: workbench.cell(item) for item in ELSEWHERE} == {item.id: cells[item.id] for item in ELSEWHERE}


def test_several_calls_stand_beside_their_results():
    """Kills two lists, of calls and of results, that the reader has to match."""
    html = workbench._example("<code>A()</code><br><code>.f()</code>", "<br><code>1</code>")
    assert "<tr><td><code>.f()</code></td><td><code>1</code></td></tr>" in html
    assert workbench._example("f(1)", "2") == '<p class="rz-example">For example, f(1) gives 2.</p>'


@pytest.mark.parametrize("item", RANKS, ids=lambda item: item.id)
def test_a_function_of_several_ranks_has_an_editor_and_other_places(item):
    """Kills a card without either: the page's script shows the one that its browser can do."""
    task, bench = workbench.task(item, "f(1)", "2"), workbench.bench(item, stub(item))
    assert 'class="rz-task" hidden' in task
    assert 'class="rz-elsewhere" hidden' in task
    assert f'data-cell="{workbench.cell(item)}"' in task
    assert " data-ranks>" in bench
    assert "stand-in for torch" in bench


def test_what_no_browser_checks_has_no_editor():
    """And what needs no ranks does not say that it starts some."""
    others = [item for item in ELSEWHERE if item not in RANKS]
    assert {workbench.bench(item, stub(item)) for item in others} == {""}
    assert not [item.id for item in others if "rz-task" in workbench.task(item, "f(1)", "2")]
    assert not [item.id for item in PLAIN if "data-ranks" in workbench.bench(item, stub(item))]

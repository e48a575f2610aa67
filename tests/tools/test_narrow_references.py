"""References on cards within the 88 columns of a page."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograder import bank
from autograder.items import Build
from autograder.learner import card_frame, function_cards, reference
from tools import code_width, narrow_references

PAGE = Path("page.html")
WIDE = '''def grown(first: float, last: float, steps: int, warm_up: int = 0, floor: float = 0.0, top: float = 1) -> int:
    """A value that grows from ``first`` to ``last`` in so many ``steps``, after a warm-up, and not below a floor."""
    if first > last:  # a value that falls has nothing to grow to, and who asks for one has mixed up the two ends of it
        raise ValueError(
            f"first must not be above last, whatever the floor {floor} and the top {top} are, got {first} and {last}"
        )
    return min(max(first + (last - first) * steps / max(warm_up, 1), floor), top) if first < last else first & 1
'''
NARROW = "def half(x):\n    return x / 2"


def card(monkeypatch, source: str) -> str:
    """What the build prints of a reference."""
    monkeypatch.setenv("RANKZERO_BOOK", "1")
    return card_frame.folded("Reference", function_cards._source(source), name="rz-reference")


def narrowed(html: str) -> str:
    return narrow_references.narrowed({PAGE: html})[PAGE]


def program(source: str) -> list[str]:
    """What a source does: its statements without docstrings."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    return [ast.dump(node) for node in nodes if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Expr)]


def test_a_wide_reference_fits_and_is_the_same_program(monkeypatch):
    """Kills a box of 87 columns with lines of 120, also where a string or a comment is long; a narrow one, and code
    elsewhere, stay to the letter.
    """
    beside = f"<pre>{WIDE}</pre>"
    html = narrowed(card(monkeypatch, WIDE) + card(monkeypatch, NARROW) + beside)
    wide, narrow = (narrow_references.text_of(fold[2]) for fold in narrow_references._FOLD.finditer(html))
    assert max(map(len, wide.split("\n"))) <= narrow_references.WIDTH
    assert program(wide) == program(WIDE)
    assert (
        " ".join(wide.replace("#", "").split()).count("has nothing to grow to, and who asks for one has mixed up") == 1
    )
    assert card(monkeypatch, NARROW) in html
    assert narrow == NARROW
    assert html.endswith(beside)
    assert 'class="k">def' in html  # coloured, and escaped
    assert "&amp;" in html


def test_a_finished_page_is_left_alone(monkeypatch):
    once = narrowed(card(monkeypatch, WIDE))
    assert narrowed(once) == once


@pytest.mark.proof(part="bank")
def test_every_reference_fits_and_is_the_same_program():
    sources = {reference.source_of(item) for item in bank.builds() if isinstance(item, Build)}
    wide = sorted(source for source in sources if narrow_references._wide(source))
    for source, fitted in zip(wide, code_width.fitted(wide, narrow_references.WIDTH), strict=True):
        made = narrow_references.broken(fitted)
        assert [line for line in made.split("\n") if len(line) > narrow_references.WIDTH] == []
        assert program(made) == program(source)

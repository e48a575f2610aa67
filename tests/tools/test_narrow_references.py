"""References on cards within the 88 columns of a page."""

from __future__ import annotations

import ast

from autograder.learner import card_frame, function_cards
from tools import columns, narrow_references

WIDE = '''def grown(first: float, last: float, steps: int, warm_up: int = 0, floor: float = 0.0, top: float = 1) -> int:
    """A value that grows from ``first`` to ``last`` in so many ``steps``, after a warm-up, and not below a floor."""
    return min(max(first + (last - first) * steps / max(warm_up, 1), floor), top) if first < last else first & 1
'''
NARROW = "def half(x):\n    return x / 2"


def card(monkeypatch, source: str) -> str:
    """What the build prints of a reference."""
    monkeypatch.setenv("RANKZERO_BOOK", "1")
    return card_frame.folded("Reference", function_cards._source(source), name="rz-reference")


def test_a_wide_reference_fits_and_is_the_same_program(monkeypatch):
    """Kills a box of 87 columns with lines of 120; a narrow one, and code elsewhere, stay to the letter."""
    beside = f"<pre>{WIDE}</pre>"
    html = narrow_references.narrowed(card(monkeypatch, WIDE) + card(monkeypatch, NARROW) + beside)
    wide, narrow = (narrow_references.text_of(fold[2]) for fold in narrow_references._FOLD.finditer(html))
    assert max(map(len, wide.split("\n"))) <= columns.WIDTH
    assert ast.dump(ast.parse(wide).body[0].body[1]) == ast.dump(ast.parse(WIDE).body[0].body[1])
    assert card(monkeypatch, NARROW) in html
    assert narrow == NARROW
    assert html.endswith(beside)
    assert 'class="k">def' in html  # coloured, and escaped
    assert "&amp;" in html


def test_a_finished_page_is_left_alone(monkeypatch):
    once = narrow_references.narrowed(card(monkeypatch, WIDE))
    assert narrow_references.narrowed(once) == once

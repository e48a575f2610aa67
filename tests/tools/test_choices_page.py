"""The page "When to use what": its tree fits its frame, and its quoted tables stand on their pages."""

from __future__ import annotations

import html
import re

import pytest

from experiments import choices as known
from tools.reference import choices


@pytest.mark.parametrize("width", [choices.WIDE, choices.PHONE])
def test_the_tree_fits(width):
    """Kills boxes that overlap or leave the drawing, and lines of text that are longer than their box."""
    drawn = choices.tree(width)
    height = float(re.search(r'viewBox="0 0 \S+ (\d+)"', drawn)[1])
    sizes = re.findall(r'x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)" rx', drawn)
    boxes = [tuple(map(float, found)) for found in sizes]
    assert len(boxes) == 2 * len(known.TREE) + 1
    for number, (x, y, wide, high) in enumerate(boxes):
        assert 0 <= x <= x + wide <= width
        assert 0 <= y <= y + high <= height
        for left, top, broad, tall in boxes[:number]:
            assert x >= left + broad or x + wide <= left or y >= top + tall or y + high <= top
    lines = [html.unescape(line) for line in re.findall(r"<tspan[^>]*>([^<]*)", drawn)]
    assert max(map(len, lines)) * choices.LETTER <= max(wide for _, _, wide, _ in boxes)


@pytest.mark.parametrize("name", choices.QUOTED)
def test_quoted_tables_are_on_their_pages(name):
    page, cell, _ = choices.QUOTED[name]
    assert all(part.count("\n") >= 4 for part in choices.quoted(page, cell))
    with pytest.raises(ValueError, match="must have a table"):
        choices.quoted(page, "no such cell")


def test_everything_is_on_the_page():
    text = choices.text()
    for one in (*known.WAYS, *known.LIBRARIES):
        assert f"| **{one.name}**" in text
    assert "<!--" not in text

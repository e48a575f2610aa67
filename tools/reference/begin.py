"""The course's mark on the opening page, and the button that leads to the first chapter."""

from __future__ import annotations

from rankzero.facts.chapters import CHAPTERS

from .markup import inline


def text() -> str:
    """The mark and the button, as HTML."""
    first = CHAPTERS[0]
    mark = '<img class="dark-light" src="../_static/mark.svg" alt="" width="44" height="44"/>'
    return f'<p class="rz-begin">{mark}<a href="{first.page}.html">Begin: chapter 1, {inline(first.title)}</a></p>\n'

"""The button on the opening page that leads to the first chapter."""

from __future__ import annotations

from rankzero.facts.chapters import CHAPTERS

from .markup import inline


def text() -> str:
    """The button, as HTML."""
    first = CHAPTERS[0]
    return f'<p class="rz-begin"><a href="{first.page}.html">Begin: chapter 1, {inline(first.title)}</a></p>\n'

"""The search index of the built book: its sections, as one script that a page loads when somebody searches.

A script, not JSON: a page that is opened from disk may load one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

from tools.plain_formulas import formula

#: What is not text of a section: nested sections are sections of their own; drawings and formulas are not words.
APART = (
    "section[id]:not(.rz-card), script, style, svg, noscript, .katex-html, annotation, .headerlink, .rz-actions, "
    ".rz-hint, .rz-hints, .rz-scorecard, .rz-veil, .rz-everything"
)
#: What a reader may not have earned yet: a search finds it, but no excerpt shows it.
CLOSED = "[data-veil], .rz-derivation, .rz-reference"
#: Elements whose parts are joined without blanks: a word may be spread over several of them.
CLOSE = "pre, code"


def _heading(section: Tag) -> str:
    found = section.find(["h1", "h2", "h3", "h4"], recursive=False)
    return _words(found) if isinstance(found, Tag) else ""


def _words(node: Tag) -> str:
    return " ".join(node.get_text(" ").split())


def sections(html: str) -> Iterator[dict[str, str]]:
    """Each section of a page, the last first: the ``id`` that links lead to, its title, its own text, and what is
    ``closed`` in it: results, explanations and explorers that wait for an answer, derivations, references."""
    article = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
    if article is None:
        return
    for section in reversed([node for node in article.select("section[id]") if _heading(node)]):
        for node in section.select(APART):
            node.extract()  # the inner ones have been read: the outer ones come last
        for node in section.select("math"):
            node.replace_with(formula(node))
        for node in section.select(CLOSE):
            node.replace_with(node.get_text())
        closed = " ".join(_words(node.extract()) for node in section.select(CLOSED))
        title, text = _heading(section), _words(section)
        yield {"id": str(section["id"]), "title": title, "text": text.removeprefix(title).strip(), "closed": closed}


def collect(output: Path, pages: list[str]) -> list[dict[str, Any]]:
    """The sections of ``pages``, names without suffix, in the order of the book; each with its page."""
    found: list[dict[str, Any]] = []
    for page in pages:
        path = output / f"{page}.html"
        own = [{"page": page, **section} for section in sections(path.read_text(encoding="utf-8"))][::-1]
        found += [{**section, "of": own[0]["title"]} for section in own]
    return found


def script(found: list[dict[str, Any]]) -> str:
    """The script that hands the sections to ``search.js``."""
    return f"window.rankzeroSections = {json.dumps(found, ensure_ascii=False)};\n"

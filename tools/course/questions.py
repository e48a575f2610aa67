"""What *Your course* asks at random: for each question the text that asks it, and its card.

One script for each chapter, ``_static/practice-03.js``, which the page loads when it asks a question of that chapter.
Scripts, not JSON: a page that is opened from disk may load them. Formulas stay TeX, between ``\\(`` and ``\\)``: the
page sets them when it shows them, and Anki takes them as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from autograder.items import AnyQuestion, Design, Item
from rankzero.facts.chapters import CHAPTERS
from tools.common import BOOK
from tools.prose_numbers import stripped

_CARD = re.compile(r'<section class="rz-card" id="rz-([\w-]+)" data-card=')
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
#: A link that leads from one page of the book to another: its words stay.
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


def _formula(tex: str, options: dict[str, Any]) -> str:
    opening, closing = (r"\[", r"\]") if options["display_mode"] else (r"\(", r"\)")
    return f"{opening}{escape(tex)}{closing}"


_MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=_formula, double_inline=True)


def html(text: str) -> str:
    r"""A text cell as HTML, without its headings and without links to other pages.

    >>> html("## 3.8 Time\n\n**Predict:** 2<!-- = 1 + 1 --> ranks, see [3.7](03-collectives.ipynb).")
    '<p><strong>Predict:</strong> 2 ranks, see 3.7.</p>\n'
    """
    return _MARKDOWN.render(_LINK.sub(r"\1", _HEADING.sub("", stripped(text))))


def practised(item: Item) -> bool:
    """Whether *Your course* can show the card of an item: of any question but a design, which needs its section."""
    return isinstance(item, AnyQuestion) and not isinstance(item, Design)


def _shown(cell: Any) -> str:
    """The HTML that an executed cell shows."""
    return "".join(output.get("data", {}).get("text/html", "") for output in cell.get("outputs", ()))


def asked(page: str, cells: Iterable[Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """The id of each question on an executed page, with the text above its card, and the card for a page beside the
    chapters."""
    text = ""
    for cell in cells:
        if cell.cell_type == "markdown":
            text = cell.source
        elif found := _CARD.match(shown := _shown(cell)):
            yield found[1], {"ask": html(text), "card": shown.replace('href="#', f'href="{page}.html#')}


def scripts(executed: Mapping[Path, Path]) -> dict[str, str]:
    """The scripts of the chapters, by the names of their files; ``executed`` says where the executed copy of each
    notebook is."""
    found: dict[int, dict[str, dict[str, str]]] = {}
    for chapter in CHAPTERS:
        for page in (chapter.page, chapter.deeper):
            if copy := executed.get(BOOK / f"{page}.ipynb"):
                cells = nbformat.read(copy, as_version=4).cells
                found.setdefault(chapter.number, {}).update(asked(page, cells))
    return {f"practice-{number:02}.js": script(number, questions) for number, questions in found.items()}


def script(number: int, found: Mapping[str, Mapping[str, str]]) -> str:
    """The script that hands the questions of a chapter to ``practice.js``."""
    data = json.dumps(found, ensure_ascii=False)
    return f"(window.rankzeroQuestions = window.rankzeroQuestions || {{}})[{number}] = {data};\n"

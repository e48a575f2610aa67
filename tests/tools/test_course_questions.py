"""What *Your course* asks at random: the text that asks, and the card, of every question."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from autograder import bank
from autograder.items import AnyQuestion, Design
from rankzero.facts.chapters import CHAPTERS
from tools.common import pages_of
from tools.course import questions

CARD = '<section class="rz-card" id="rz-03-ring-ms" data-card="{}"><a href="#section-3-15">Time</a></section>'


def cells(text: str, html: str) -> list:
    """A text cell, and a cell that shows something."""
    shown = nbformat.v4.new_output("display_data", {"text/html": html})
    return [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell("predict(...)", outputs=[shown])]


def test_a_question_has_the_text_above_its_card():
    """Kills a card whose text was lost, a link that leads nowhere from another page, and a number's formula in view."""
    page = "deeper/03-collectives-deeper"
    other = cells("By hand.", "<p>no card</p>")
    found = dict(questions.asked(page, [*other, *cells("## 3.15 Time\n\n**Predict:** 2<!-- = 1 + 1 --> $S/B$.", CARD)]))
    assert found["03-ring-ms"]["ask"].strip() == (
        r'<p><strong>Predict:</strong> 2 <span class="math inline">\(S/B\)</span>.</p>'
    )
    assert f'href="{page}.html#section-3-15"' in found["03-ring-ms"]["card"]
    assert list(found) == ["03-ring-ms"]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("$$a < b$$", r'<div class="math block">' + "\n" + r"\[a &lt; b\]" + "\n</div>"),
        (
            "See [3.7](03-collectives.ipynb) and [x](https://x.org).",
            '<p>See 3.7 and <a href="https://x.org">x</a>.</p>',
        ),
        ("# A title", ""),
    ],
)
def test_text_as_html(text, html):
    assert questions.html(text).strip() == html


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.page)
def test_every_question_has_a_text_above_it(chapter):
    """Kills a question that would be asked without words: the cell above each card is text that asks."""
    asked = {}
    for path in pages_of(chapter):
        text = ""
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                text = cell.source
            elif call := re.search(r'^predict\("([\w-]+)"', cell.source, re.MULTILINE):
                asked[call[1]] = questions.html(text)
    wanted = {item.id for item in bank.of_chapter(chapter.package) if questions.practised(item)}
    assert wanted <= asked.keys()
    assert [name for name in wanted if "<strong>" not in asked[name]] == []


def test_designs_stay_on_their_pages():
    kinds = {type(item) for item in bank.of_chapter("ch07") if not questions.practised(item)}
    assert Design in kinds
    assert all(
        questions.practised(item) != isinstance(item, Design) for item in bank.items() if isinstance(item, AnyQuestion)
    )


def test_a_script_hands_over_what_it_holds():
    found = {"03-ring-ms": {"ask": 'a "b"', "card": "<p>é</p>"}}
    text = questions.script(3, found)
    assert json.loads(text.partition("[3] = ")[2].rstrip(";\n")) == found

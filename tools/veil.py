"""What a run prints or draws after a question is veiled in the page until the question is answered: commit, then see.

A build only marks the results, ``data-veil`` with the ids of the questions, and puts a line before each. The style
sheet and the script (``book/_static/veil.css`` and ``veil.js``) do the rest, so that a page without scripts, a printed
page and a notebook show everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import zip_longest

#: Where a section begins, a card, an explorer, and the output of a cell: the last three in this order from the inside.
_PLACE = re.compile(
    r'(?P<heading><h2\b)|(?P<card><section class="rz-card\b[^>]*>)|(?P<explorer><[a-z-]+ class="rz-explorer\b)'
    r'|(?P<output><div class="cell_output\b[^"]*")'
)
#: How a page says that it has veils, and lifts all of them at once.
SWITCH = (
    '<p class="rz-everything"><label><input type="checkbox" role="switch" autocomplete="off"> Show everything</label> '
    "<span>Results stay closed until you have answered the question before them.</span></p>"
)


def line(questions: Sequence[str], again: bool) -> str:
    """What stands in place of a veiled result; ``again``: under one that the same questions veil."""
    if again:
        return '<p class="rz-veil">This result opens with the one above.</p>'
    button = '<button type="button">show the result</button>'
    links = [f'<a href="#rz-{escape(one)}">{{}}</a>' for one in questions]
    if len(links) == 1:
        return f'<p class="rz-veil">Answer {links[0].format("the question above")} first, or {button}.</p>'
    named = ", ".join(link.format(escape(one)) for link, one in zip(links, questions, strict=True))
    return f'<p class="rz-veil">Answer the questions above first ({named}), or {button}.</p>'


def _question(card: str) -> str:
    """The id of the question that a card asks; nothing for any other card."""
    found = re.search(r' id="rz-([^"]+)"', card) if " data-card=" in card else None
    return found[1] if found else ""


def results(html: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each result that has a question before it in its section: where its output begins, and the ids of the questions.

    Questions that stand together veil what follows them, up to the next question with results of its own. An output
    that holds a card or an explorer is no result.
    """
    places = list(_PLACE.finditer(html))
    asked: list[str] = []
    seen = False  # a result of those that were asked
    for place, inside in zip_longest(places, places[1:]):
        if place.lastgroup == "heading":
            asked, seen = [], False
        elif place.lastgroup == "card" and (question := _question(place[0])):
            asked = [question] if seen else [*asked, question]
            seen = False
        elif place.lastgroup == "output" and asked and (inside is None or inside.lastgroup in ("heading", "output")):
            seen = True
            yield place.start(), tuple(asked)


def veiled(html: str) -> str:
    """A page whose results are marked, with a line before each of them and a switch below the title; once."""
    begin = html.find("<article")
    if begin < 0 or " data-veil=" in html:
        return html
    parts, end, before = [], 0, None
    for at, questions in results(html[begin:]):
        output = '<div class="cell_output'
        parts += [
            html[end : begin + at],
            line(questions, questions == before),
            f'<div data-veil="{escape(" ".join(questions))}" {output.removeprefix("<div ")}',
        ]
        end, before = begin + at + len(output), questions
    if not parts:
        return html
    text = "".join(parts) + html[end:]
    below = text.find("</h1>", begin)
    return text if below < 0 else text[: below + 5] + "\n" + SWITCH + text[below + 5 :]

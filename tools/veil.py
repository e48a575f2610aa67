"""What a run prints or draws after a question is veiled in the page until the question is answered: commit, then see.

So is a cell of text with the tag ``after``, which says what came out or why. A build only marks them, ``data-veil``
with the ids of the questions, and puts a line before each. The style sheet and the script (``book/_static/veil.css``
and ``veil.js``) do the rest, so that a page without scripts, a printed page and a notebook show everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import zip_longest

#: The tag of a cell of text that waits, as results do, for the questions before it.
AFTER = "after"
#: Where a section begins, a card, an explorer, the output of a cell, and text with the tag. Cards and explorers stand
#: in outputs.
_PLACE = re.compile(
    r'(?P<heading><h2\b)|(?P<card><section class="rz-card\b[^>]*>)|(?P<explorer><[a-z-]+ class="rz-explorer\b)'
    r'|(?P<output><div class="cell_output\b)|(?P<text><div class="rz-after")'
)
#: What a reader calls the two things that wait.
_NAMES = {"output": "result", "text": "explanation"}
#: How a page says that it has veils, and lifts all of them at once.
SWITCH = (
    '<p class="rz-everything"><label><input type="checkbox" role="switch" autocomplete="off"> Show everything</label> '
    "<span>Results and explanations stay closed until you have answered the question before them.</span></p>"
)


def wrapped(text: str) -> str:
    """The Markdown of a cell with the tag ``after``, so that the page shows where it begins and ends."""
    return f'<div class="rz-after">\n\n{text}\n\n</div>'


def line(questions: Sequence[str], name: str, above: str = "") -> str:
    """What is shown in place of a veiled result or explanation; ``above``: what the same questions veil before it."""
    if above:
        return f'<p class="rz-veil">This {name} opens with the {"one" if name == above else above} above.</p>'
    button = f'<button type="button">show the {name}</button>'
    links = [f'<a href="#rz-{escape(one)}">{{}}</a>' for one in questions]
    if len(links) == 1:
        return f'<p class="rz-veil">Answer {links[0].format("the question above")} first, or {button}.</p>'
    named = ", ".join(link.format(escape(one)) for link, one in zip(links, questions, strict=True))
    return f'<p class="rz-veil">Answer the questions above first ({named}), or {button}.</p>'


def _question(card: str) -> str:
    """The id of the question that a card asks; nothing for any other card."""
    found = re.search(r' id="rz-([^"]+)"', card) if " data-card=" in card else None
    return found[1] if found else ""


def results(html: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Each result or explanation that has a question before it in its section: where its element begins, which of the
    two it is, and the ids of the questions.

    Questions that stand together veil what follows them, up to the next question with results of its own. An output
    that holds a card or an explorer is no result.
    """
    places = list(_PLACE.finditer(html))
    asked: list[str] = []
    seen = False  # a result of those that were asked
    for place, inside in zip_longest(places, places[1:]):
        holds = inside is not None and inside.lastgroup in ("card", "explorer")
        if place.lastgroup == "heading":
            asked, seen = [], False
        elif place.lastgroup == "card" and (question := _question(place[0])):
            asked = [question] if seen else [*asked, question]
            seen = False
        elif asked and (place.lastgroup == "text" or (place.lastgroup == "output" and not holds)):
            seen = True
            yield place.start(), _NAMES[place.lastgroup], tuple(asked)


def veiled(html: str) -> str:
    """A page whose results and explanations are marked, with a line before each and a switch below the title; once."""
    begin = html.find("<article")
    if begin < 0 or " data-veil=" in html:
        return html
    parts, end, before, above = [], 0, None, ""
    for at, name, questions in results(html[begin:]):
        above = above if questions == before else ""
        element = begin + at + len("<div ")
        mark = f'{line(questions, name, above)}<div data-veil="{escape(" ".join(questions))}" '
        parts += [html[end : begin + at], mark]
        end, before, above = element, questions, above or name
    if not parts:
        return html
    text = "".join(parts) + html[end:]
    below = text.find("</h1>", begin)
    return text if below < 0 else text[: below + 5] + "\n" + SWITCH + text[below + 5 :]

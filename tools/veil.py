"""What a run prints or draws after a question is veiled in the page until the question is answered: commit, then see.

So is a cell of text with the tag ``after``, which says what came out or why. So is an explorer: its sliders reach the
numbers of every question before it in the section, so it waits for all of them. An explorer with which a question is to
be answered stands before that question. A build only marks them, ``data-veil`` with the ids of the questions, and puts
a line before each. The style sheet and the script (``book/_static/veil.css``
and ``veil.js``) do the rest, so that a page without scripts, a printed page and a notebook show everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import zip_longest

#: The tag of a cell of text that waits, as results do, for the questions before it.
AFTER = "after"
#: Where a section begins, a card, an explorer, the output of a cell, and text with the tag. Cards and explorers are in
#: outputs.
_PLACE = re.compile(
    r'(?P<heading><h2\b)|(?P<card><section class="rz-card\b[^>]*>)|(?P<explorer><[a-z-]+ class="rz-explorer\b)'
    r'|(?P<output><div class="cell_output\b)|(?P<text><div class="rz-after")'
)
#: The id of a card and its title, HTML.
_TITLE = re.compile(
    r'<section class="rz-card\b[^>]* id="rz-([^"]+)"(?:(?!<section\b).)*?class="rz-title">([^<]*)</', re.DOTALL
)
#: As many questions are named by their titles; more are numbered.
NAMED = 3
#: What a reader calls the things that wait.
_NAMES = {"output": "result", "text": "explanation", "explorer": "explorer"}
#: How a page says that it has veils, and lifts all of them at once.
SWITCH = (
    '<p class="rz-everything"><label><input type="checkbox" role="switch" autocomplete="off"> Show everything</label> '
    "<span>Results, explanations and explorers stay closed until you answer the questions before them.</span></p>"
)


def wrapped(text: str) -> str:
    """The Markdown of a cell with the tag ``after``, so that the page shows where it begins and ends."""
    return f'<div class="rz-after">\n\n{text}\n\n</div>'


def line(questions: Sequence[str], name: str, above: str = "", titles: Mapping[str, str] | None = None) -> str:
    """What is shown in place of something veiled.

    Args:
        questions: the ids of those that it waits for.
        name: what a reader calls it.
        above: what the same questions veil before it.
        titles: of the questions by their ids, HTML; one without a title goes by its id.
    """
    if above:
        told = _link(questions[0], "the same question") if len(questions) == 1 else "the same questions"
        first = "one" if name == above else above
        return f'<p class="rz-veil">This {name} opens with the {first} above, after {told}.</p>'
    button = f'<button type="button">show the {name}</button>'
    if len(questions) == 1:
        return f'<p class="rz-veil">Answer {_link(questions[0], "the question above")} first, or {button}.</p>'
    names = {one: (titles or {}).get(one) or escape(one) for one in questions}
    if len(questions) <= NAMED:
        told = ", ".join(_link(one, title) for one, title in names.items())
        return f'<p class="rz-veil">Answer the questions above first ({told}), or {button}.</p>'
    told = ", ".join(_link(one, str(place), title) for place, (one, title) in enumerate(names.items(), 1))
    return f'<p class="rz-veil">Answer the {len(names)} questions above first ({told}), or {button}.</p>'


def _link(question: str, text: str, title: str = "") -> str:
    """A link to the card of a question; ``title`` is shown by a pointer that rests on it, and read aloud."""
    more = f' title="{title}" aria-label="Question {text}: {title}"' if title else ""
    return f'<a href="#rz-{escape(question)}"{more}>{text}</a>'


def _question(card: str) -> str:
    """The id of the question that a card asks; nothing for any other card."""
    found = re.search(r' id="rz-([^"]+)"', card) if " data-card=" in card else None
    return found[1] if found else ""


def results(html: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Each result, explanation or explorer that has a question before it in its section: where its element begins,
    which of the three it is, and the ids of the questions.

    Questions that stand together veil what follows them, up to the next question with results of its own; an explorer
    is veiled by all questions of the section so far. An output that holds a card is no result.
    """
    places = list(_PLACE.finditer(html))
    section: list[str] = []  # its questions so far
    asked: list[str] = []  # those of them that stand together
    seen = False  # a result of those
    for place, inside in zip_longest(places, places[1:]):
        kind, held = place.lastgroup, inside.lastgroup if inside is not None else ""
        if kind == "heading":
            section, asked, seen = [], [], False
        elif kind == "card" and (question := _question(place[0])):
            section = [*section, question]
            asked = [question] if seen else [*asked, question]
            seen = False
        elif asked and kind == "output" and held == "explorer":
            yield place.start(), _NAMES["explorer"], tuple(section)
        elif asked and (kind == "text" or (kind == "output" and held != "card")):
            seen = True
            yield place.start(), _NAMES[kind], tuple(asked)


def veiled(html: str) -> str:
    """A page in which everything that waits is marked, with a line before each and a switch below the title; once."""
    begin = html.find("<article")
    if begin < 0 or " data-veil=" in html:
        return html
    titles = {name: title.replace('"', "&quot;") for name, title in _TITLE.findall(html, begin)}
    parts, end = [], 0
    first: dict[tuple[str, ...], str] = {}  # what some questions veil first: the line before it has the button
    for at, name, questions in results(html[begin:]):
        mark = (
            f'{line(questions, name, first.get(questions, ""), titles)}<div data-veil="{escape(" ".join(questions))}" '
        )
        parts += [html[end : begin + at], mark]
        end = begin + at + len("<div ")
        first.setdefault(questions, name)
    if not parts:
        return html
    text = "".join(parts) + html[end:]
    below = text.find("</h1>", begin)
    return text if below < 0 else text[: below + 5] + "\n" + SWITCH + text[below + 5 :]

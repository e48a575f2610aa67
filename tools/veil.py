"""What a run prints or draws after a question is veiled in the page until the question is answered: commit, then see.

So is a cell of text with the tag ``after``, which says what came out or why. So are an explorer and the sentence to
remember: sliders reach the numbers of every question before them in the section, and the sentence sums the section up,
so they wait for all of its questions so far. An explorer with which a question is to be answered stands before that
question. What comes out of a function that the reader writes after the questions opens when that function is right,
too. A build only marks them: ``data-veil`` with the ids of the questions, ``data-veil-own`` with those of the
functions. It puts a line before each; of lines in a row (``data-veil-row``) only the first is in sight. The style sheet
and the script (``book/_static/veil.css`` and ``veil.js``) do the rest, so that a page without scripts, a printed page
and a notebook show everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import zip_longest
from typing import NamedTuple

#: The tag of a cell of text that waits, as results do, for the questions before it.
AFTER = "after"
#: The tag of a cell with a sentence to remember.
TAKEAWAY = "takeaway"
#: How the tag begins that a cell gets for each function of the reader that it calls; the id of the item follows.
USES = "uses-"
#: Where a section begins, a card, an explorer, a code cell, its output, and text that waits. Cards and explorers are in
#: outputs.
_PLACE = re.compile(
    r'(?P<heading><h2\b)|(?P<card><section class="rz-card\b[^>]*>)|(?P<explorer><[a-z-]+ class="rz-explorer\b)'
    r'|(?P<cell><div class="cell\b[^"]*")|(?P<output><div class="cell_output\b)|(?P<text><div class="rz-after")'
    r'|(?P<takeaway><div class="rz-takeaway")'
)
_USED = re.compile(rf" tag_{USES}([\w-]+)")
#: What may stand between two things that wait so that they follow each other: the ends and beginnings of boxes, places
#: that are empty while the first is veiled, and the sentence that says why its cell runs in a notebook only.
_NOTHING = re.compile(r'\s|</?(?:div|section|span)\b[^>]*>|<p class="rz-stays".*?</p>', re.DOTALL)
#: The id of a card and its title, HTML.
_TITLE = re.compile(
    r'<section class="rz-card\b[^>]* id="rz-([^"]+)"(?:(?!<section\b).)*?class="rz-title">([^<]*)</', re.DOTALL
)
#: As many questions are named by their titles; more are numbered.
NAMED = 3
#: What a reader calls the things that wait.
_NAMES = {"output": "result", "text": "explanation", "explorer": "explorer", "takeaway": "sentence to remember"}
#: How a page says that it has veils, and lifts all of them at once.
SWITCH = (
    '<p class="rz-everything"><label><input type="checkbox" role="switch" autocomplete="off"> Show everything</label> '
    "<span>Results, explanations and explorers stay closed until you answer the questions before them.</span></p>"
)


class Waiting(NamedTuple):
    """A result, an explanation, an explorer or a sentence: where its element begins, which of these it is, the ids of
    the questions that it waits for, and those of the functions that open it, too."""

    at: int
    name: str
    questions: tuple[str, ...]
    functions: tuple[str, ...] = ()


def wrapped(text: str, tag: str = AFTER) -> str:
    """The Markdown of a cell that waits, so that the page shows where it begins and ends."""
    return f'<div class="rz-{tag}">\n\n{text}\n\n</div>'


def line(
    questions: Sequence[str],
    name: str,
    above: str = "",
    titles: Mapping[str, str] | None = None,
    functions: Sequence[str] = (),
) -> str:
    """What a line in place of something veiled says.

    Args:
        questions: the ids of those that it waits for.
        name: what a reader calls it.
        above: what the same questions veil before it.
        titles: of the questions by their ids, HTML; one without a title goes by its id.
        functions: the ids of those that open it, too.
    """
    if above:
        told = _link(questions[0], "the same question") if len(questions) == 1 else "the same questions"
        first = "one" if name == above else above
        return f"This {name} opens with the {first} above, after {told}."
    button = f'<button type="button">show the {name}</button>'
    written = " and ".join(_link(function, "the function") for function in functions)
    finish = f" or finish {written}" if written else ""
    if len(questions) == 1:
        return f"Answer {_link(questions[0], 'the question above')}{finish} first, or {button}."
    names = {question: (titles or {}).get(question) or escape(question) for question in questions}
    if len(questions) <= NAMED:
        told = ", ".join(_link(one, title) for one, title in names.items())
        return f"Answer the questions above{finish} first ({told}), or {button}."
    told = ", ".join(_link(one, str(number), title) for number, (one, title) in enumerate(names.items(), 1))
    return f"Answer the {len(names)} questions above{finish} first ({told}), or {button}."


def _link(question: str, text: str, title: str = "") -> str:
    """A link to the card of a question; ``title`` is shown by a pointer that rests on it, and read aloud."""
    more = f' title="{title}" aria-label="Question {text}: {title}"' if title else ""
    return f'<a href="#rz-{escape(question)}"{more}>{text}</a>'


def _question(card: str) -> str:
    """The id of the question that a card asks; nothing for any other card."""
    match = re.search(r' id="rz-([^"]+)"', card) if " data-card=" in card else None
    return match[1] if match else ""


def _function(card: str) -> str:
    """The id of the function that a card checks; nothing for any other card."""
    match = re.search(r' id="rz-([^"]+)"', card)
    return match[1] if match and " data-card=" not in card else ""


def results(html: str) -> Iterator[Waiting]:
    """Each result, explanation, explorer or sentence to remember that has a question before it in its section.

    Questions that stand together veil what follows them, up to the next question with results of its own; an explorer
    or a sentence to remember is veiled by all questions of the section so far. An output that holds a card is no
    result. A function that is checked after the questions opens the results of the cells that call it, and the
    explanations below those.
    """
    places = list(_PLACE.finditer(html))
    section: list[str] = []  # its questions so far
    asked: list[str] = []  # those of them that stand together
    written: list[str] = []  # the functions checked after those
    used: list[str] = []  # the functions that the cell calls
    opens: tuple[str, ...] = ()  # those of them that open the last result
    seen = False  # a result of those questions
    for place, inside in zip_longest(places, places[1:]):
        kind, held = place.lastgroup, inside.lastgroup if inside is not None else ""
        if kind == "heading":
            section, asked, written, opens, seen = [], [], [], (), False
        elif kind == "cell":
            used = _USED.findall(place[0])
        elif kind == "card" and (question := _question(place[0])):
            section = [*section, question]
            asked = [question] if seen else [*asked, question]
            written, opens, seen = [], (), False
        elif kind == "card" and (function := _function(place[0])):
            written = [*written, function]
        elif section and (kind == "takeaway" or (kind == "output" and held == "explorer")):
            yield Waiting(place.start(), _NAMES["takeaway" if kind == "takeaway" else "explorer"], tuple(section))
        elif asked and (kind == "text" or (kind == "output" and held != "card")):
            seen = True
            opens = opens if kind == "text" else tuple(one for one in used if one in written)
            yield Waiting(place.start(), _NAMES[kind], tuple(asked), opens)


def _end(html: str, at: int) -> int:
    """Where the ``<div>`` that begins at ``at`` ends."""
    depth = 0
    for tag in re.compile(r"<(/?)div\b[^>]*>").finditer(html, at):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return len(html)


def _follows(html: str, before: int, at: int) -> bool:
    """Whether nothing is seen between what begins at ``before`` and what begins at ``at``."""
    return not _NOTHING.sub("", html[_end(html, before) : at])


def veiled(html: str) -> str:
    """A page in which everything that waits is marked, with a line before each and a switch below the title; once."""
    begin = html.find("<article")
    if begin < 0 or " data-veil=" in html:
        return html
    titles = {name: title.replace('"', "&quot;") for name, title in _TITLE.findall(html, begin)}
    parts, end = [], begin
    first: dict[tuple[tuple[str, ...], ...], str] = {}  # what they veil first: the line before it has the button
    body, last = html[begin:], None
    for one in results(body):
        row = last is not None and _follows(body, last.at, one.at)
        waits = one.questions, one.functions
        text = line(one.questions, one.name, first.get(waits, ""), titles, one.functions)
        own = f'data-veil-own="{escape(" ".join(one.functions))}" ' if one.functions else ""
        marks = f'data-veil="{escape(" ".join(one.questions))}" {own}{"data-veil-row " if row else ""}'
        mark = f'<p class="rz-veil">{text}</p><div {marks}'
        parts += [html[end : begin + one.at], mark]
        end = begin + one.at + len("<div ")
        first.setdefault(waits, one.name)
        last = one
    if not parts:
        return html
    text = html[:begin] + "".join(parts) + html[end:]
    below = text.find("</h1>", begin)
    return text if below < 0 else text[: below + 5] + "\n" + SWITCH + text[below + 5 :]

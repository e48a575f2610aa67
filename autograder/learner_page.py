"""A learner's page: one HTML file, complete in itself.

It says what is right, then what to do next, in the order of the course: which idea is missing, and which section of the
book explains it. Of hidden cases it holds no input, no expected value, no ratio to one, and no text that a submission's
code chose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from autograder import report
from autograder.concepts import Concept, book_of, concepts, failing, following, ideas, reading
from autograder.frame import bullets, code, document, folded, link, pairs, paragraph, said, table
from autograder.judge import Answered, Grading, Mark

if TYPE_CHECKING:
    from autograder.classroom import Graded

#: A sign and a word for each state; colour only repeats them.
SIGNS = {
    "right": ("right", "✓ right"),
    "partly": ("wrong", "◐ partly right"),
    "not yet": ("wrong", "✗ not yet"),
    "wrong": ("wrong", "✗ not yet"),
    "not written": ("quiet", "○ not written"),
    "missing": ("quiet", "○ not there"),
    "unwritten": ("quiet", "○ not written"),
    "not judged": ("quiet", "? not judged"),
    "unjudged": ("quiet", "? not judged"),
}
#: Most lines of a list that stand open.
OPEN = 25
#: Stamps that a page repeats, with their names.
STAMPS = (("grader", "Grader"), ("interpreter", "Interpreter"), ("sandbox", "Sandbox"), ("vectors", "Hidden cases"))


def learner(graded: Graded, stamps: Mapping[str, Any]) -> str:
    """The page of one submission, as HTML. ``stamps["book"]`` may be the address of the built book's chapters."""
    grading, handed = graded.grading, graded.handed
    late = ' <span class="state wrong">handed in late</span>' if handed.late else ""
    body = [f"<h1>{escape(handed.name)}{late}</h1>"]
    if grading.all:
        body += [paragraph(f"<strong>{escape(report.total(grading))}</strong>", "lead"), *_learned(grading, stamps)]
    else:
        body += [_refused(graded)]
    body += ["<h2>How it was graded</h2>", stamped(grading, stamps)]
    return document(f"Results of {handed.name}", "\n".join(filter(None, body)))


def _refused(graded: Graded) -> str:
    reason = paragraph(f"<strong>Not graded:</strong> {escape(graded.grading.reason)}.")
    what = "This is no fault of yours. Ask your instructor." if graded.fault else "Mend it, then hand in again."
    return f'<div class="note bad">{reason}<p>It costs no attempt. {what}</p></div>'


def _learned(grading: Grading, stamps: Mapping[str, Any]) -> list[str]:
    book = book_of(stamps)
    listed = concepts(grading.all)
    tried = [concept for concept in listed if concept.state in ("partly", "not yet")]
    absent = [concept for concept in listed if concept.state == "not written"]
    unjudged = [concept for concept in listed if concept.state == "not judged"]
    return [
        "<h2>What is right</h2>",
        _right([concept for concept in listed if concept.state == "right"], len(listed), book),
        _problems(grading),
        "<h2>What to do next</h2>" if tried or absent else "",
        _advice(listed, book),
        *(_concept(concept, book) for concept in tried),
        _absent(absent, book),
        _unjudged(unjudged),
        "<h2>Points</h2>",
        _points(grading.all),
    ]


def _right(right: Sequence[Concept], total: int, book: str) -> str:
    if not right:
        return paragraph("No concept is complete yet. What is missing stands below, in the order of the course.")
    lines = [
        f'<span class="right" aria-hidden="true">✓</span> {said(one.topic)} '
        f'<span class="quiet">({read(one.section, book)})</span>'
        for one in right
    ]
    what = "Every concept is right." if len(right) == total else f"{len(right)} of {total} concepts are right."
    short = paragraph(what)
    return short + (bullets(lines) if len(lines) <= OPEN else folded(f"All {len(lines)}", bullets(lines)))


def _problems(grading: Grading) -> str:
    """What could not be read or run: it may be the cause of all that follows."""
    if not grading.problems:
        return ""
    return f'<div class="note bad"><p>About your files:</p>{bullets(map(escape, grading.problems))}</div>'


def read(section: str, book: str) -> str:
    """The section, linked where the book's address is known."""
    where = reading(section, book)
    return link(where.address, str(where))


def _advice(listed: Sequence[Concept], book: str) -> str:
    first = following(listed)
    if first is None:
        return ""
    start = f"Start with <strong>{said(first.topic)}</strong>: read {read(first.section, book)}."
    return f'<div class="note">{paragraph(start)}</div>'


def _state(state: str) -> str:
    kind, words = SIGNS[state]
    return f'<span class="state {kind}">{words}</span>'


def _concept(concept: Concept, book: str) -> str:
    """A concept that was tried: where to read, then each item with its ideas."""
    head = f"<h3>{said(concept.topic)} {_state(concept.state)}</h3>"
    parts = [_item(mark) for mark in concept.marks if mark.state != "right"]
    done = [_name(mark) for mark in concept.marks if mark.state == "right"]
    right = paragraph(f"Right already: {', '.join(done)}.") if done else ""
    return f"<section>{head}{paragraph('Read ' + read(concept.section, book) + '.')}{right}{''.join(parts)}</section>"


def _name(mark: Mark | Answered) -> str:
    return code(mark.item.function) if isinstance(mark, Mark) else said(mark.item.title)


def _item(mark: Mark | Answered) -> str:
    """One item that is not right: the idea first, then the public cases that fail."""
    worth = f'<span class="quiet">{escape(mark.item.id)}, {_worth(mark)}</span>'
    text = paragraph(f"{_name(mark)} {worth}") + bullets(map(said, ideas(mark)))
    if isinstance(mark, Answered) or not mark.hidden:
        return text
    cases = failing(mark)
    if not cases:
        return text + paragraph(f"{report.PUBLIC_DONE} Hidden ones do not: look at the idea above.")
    return text + paragraph("On the public cases:") + bullets(map(code, cases))


def _worth(mark: Mark | Answered) -> str:
    optional = ", optional" if isinstance(mark, Mark) and mark.item.bonus else ""
    return f"{mark.score:g} of {mark.points:g} points{optional}"


def _absent(listed: Sequence[Concept], book: str) -> str:
    """What is not written yet, in one table."""
    if not listed:
        return ""
    lines = [
        [said(one.topic), ", ".join(map(_name, one.marks)), read(one.section, book), f"{_possible(one):g}"]
        for one in listed
    ]
    columns = [("concept", ""), ("to write", ""), ("read", "wide"), ("points", "number")]
    return "<h3>Not written yet</h3>" + table("In the order of the course", columns, lines)


def _possible(concept: Concept) -> float:
    return sum(mark.points for mark in concept.marks)


def _unjudged(listed: Sequence[Concept]) -> str:
    if not listed:
        return ""
    names = bullets(said(one.topic) for one in listed)
    return f"<h2>Not judged</h2><p>The grader could not judge these. Ask your instructor.</p>{names}"


def _points(marks: Sequence[Mark | Answered]) -> str:
    lines = [[code(mark.item.id), f"{mark.score:g}", f"{mark.points:g}", _ended(mark)] for mark in marks]
    return table("Every item", [("item", ""), ("points", "number"), ("of", "number"), ("state", "")], lines)


def _ended(mark: Mark | Answered) -> str:
    return _state(mark.state) + (", optional" if isinstance(mark, Mark) and mark.item.bonus else "")


def stamped(grading: Grading | None, stamps: Mapping[str, Any]) -> str:
    entries = [("Handed in", grading.name), ("SHA-256", grading.sha256)] if grading else []
    known = {"grader": report.version(), **stamps}
    return pairs([*entries, *((name, str(known.get(stamp) or "")) for stamp, name in STAMPS)])

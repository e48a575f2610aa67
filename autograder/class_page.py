"""A class's page: what the class gets wrong most, on which items, and where each learner's page is. One HTML file."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from autograder.concepts import book_of
from autograder.frame import bar, code, document, folded, link, paragraph, said, table
from autograder.learner_page import OPEN, read, stamped
from autograder.tables import STATES, Count, counts

if TYPE_CHECKING:
    from autograder.classroom import Graded


def classroom(rows: Sequence[Graded], stamps: Mapping[str, Any]) -> str:
    """The page of a class, as HTML: scores, the hardest items, the commonest mistakes, and who handed in what.

    The links to the learners' pages lead to ``ID.html`` beside it.
    """
    judged = [row for row in rows if row.grading.all]
    counted = counts(rows)
    body = [
        "<h1>The class</h1>",
        _summary(rows, judged),
        _isolation(stamps),
        _refusals(rows),
        _scores(judged),
        _hardest(counted, stamps),
        _frequent("Mistakes", "slips", "Recognised by the wrong answers that they give.", counted),
        _frequent("Hints", "hints", "Given where no known mistake explains the failures.", counted),
        _learners(rows),
        "<h2>How it was graded</h2>",
        stamped(None, stamps),
    ]
    return document("The class", "\n".join(filter(None, body)))


def _summary(rows: Sequence[Graded], judged: Sequence[Graded]) -> str:
    late = sum(row.handed.late for row in rows)
    facts = [f"{len(rows)} submissions", f"{len(rows) - len(judged)} could not be graded", f"{late} late"]
    text = paragraph(", ".join(facts) + ".", "lead")
    if not judged:
        return text
    scores = [row.grading.score for row in judged]
    middle = f"median {statistics.median(scores):.3g}, mean {statistics.fmean(scores):.3g}"
    ends = f"lowest {min(scores):.3g}, highest {max(scores):.3g}"
    return text + paragraph(f"Of {judged[0].grading.points:g} points (optional items come on top): {middle}, {ends}.")


def _isolation(stamps: Mapping[str, Any]) -> str:
    """A warning when submissions ran with less than full isolation."""
    line = str(stamps.get("sandbox") or "")
    if line and "not isolated" not in line and "sandbox: none" not in line:
        return ""
    what = escape(line) if line else "what was isolated is not known"
    return f'<div class="note bad"><p>Submissions did not run in full isolation ({what}).</p></div>'


def _refusals(rows: Sequence[Graded]) -> str:
    lines = [[_learner_link(row), escape(row.grading.name), escape(row.grading.reason)] for row in rows if _stuck(row)]
    if not lines:
        return ""
    columns = [("learner", ""), ("handed in", ""), ("reason", "wide")]
    return "<h2>Could not be graded</h2>" + table("This costs no attempt", columns, lines)


def _stuck(row: Graded) -> bool:
    return bool(row.grading.reason)


def _learner_link(row: Graded) -> str:
    return link(f"{quote(row.handed.id)}.html", row.handed.name)


def _scores(judged: Sequence[Graded]) -> str:
    """The distribution: ten classes of the share of points."""
    if not judged:
        return ""
    bins = [0] * 10
    for row in judged:
        share = row.grading.score / row.grading.points if row.grading.points else 0.0
        bins[min(9, int(10 * share + 1e-9))] += 1
    top = max(bins)
    lines = [[_range(place), str(count), bar(count / top)] for place, count in enumerate(bins)]
    columns = [("share of points", "number"), ("learners", "number"), ("", "bar long")]
    return "<h2>Scores</h2>" + table("How many learners reached which share of the points", columns, lines)


def _range(place: int) -> str:
    return f"{10 * place}–{10 * place + 10} %" if place < 9 else "90 % and more"


def _hardest(counted: Sequence[Count], stamps: Mapping[str, Any]) -> str:
    if not counted:
        return ""
    book = book_of(stamps)
    ordered = sorted(counted, key=lambda count: (not count.tried, count.share))
    lines = [
        [
            f"{code(count.id)}<br>{read(count.mark.item.section, book)}",
            f"{100 * count.share:.0f} %",
            bar(count.share),
            *(str(count.states[state]) for state in STATES),
        ]
        for count in ordered
    ]
    names = ("right", "partly", "wrong", "not there", "not written", "not judged")
    columns = [("item", "wide"), ("earned", "number"), ("", "bar"), *((name, "number") for name in names)]
    return "<h2>Items, the hardest first</h2>" + table("Share of points earned, and learners by state", columns, lines)


def _frequent(heading: str, kind: str, caption: str, counted: Sequence[Count]) -> str:
    """Mistakes or hints of all items, the most frequent first, each against those who tried its item."""
    found = [(times, count, text) for count in counted for text, times in getattr(count, kind).items()]
    found.sort(key=lambda one: (-one[0], one[1].id, one[2]))
    if not found:
        return ""
    lines = [[f"{times} of {count.tried}", said(text), code(count.id)] for times, count, text in found]
    columns = [("learners", "number"), ("what", "wide"), ("item", "")]
    first = table(caption, columns, lines[:OPEN])
    rest = table(f"{caption} The rarer ones.", columns, lines[OPEN:]) if lines[OPEN:] else ""
    return f"<h2>{heading}</h2>{first}" + (folded(f"{len(lines) - OPEN} rarer ones", rest) if rest else "")


def _learners(rows: Sequence[Graded]) -> str:
    if not rows:
        return ""
    lines = [
        [_learner_link(row), escape(row.handed.id), _score(row), "late" if row.handed.late else "", *_notes(row)]
        for row in sorted(rows, key=lambda row: (row.handed.name.casefold(), row.handed.id))
    ]
    columns = [("learner", ""), ("id", ""), ("points", "number"), ("", ""), ("notes", "wide")]
    return "<h2>Learners</h2>" + table("By name", columns, lines)


def _score(row: Graded) -> str:
    return f"{row.grading.score:g}" if row.grading.all else "not graded"


def _notes(row: Graded) -> list[str]:
    return ["<br>".join(escape(problem) for problem in row.grading.problems)]

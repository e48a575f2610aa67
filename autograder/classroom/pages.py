"""The pages of a graded class: one for each learner and one for the class, each a complete HTML file.

This module decides what a page contains; the Jinja templates in ``templates`` decide how it is written, and escape
every value they print. A page runs no script and loads nothing from another host. About hidden cases it shows no input,
no expected value, no ratio to an expected value, and no text that the submission's code produced.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autograder.classroom.adjustments import Adjustment, adjusted
from autograder.classroom.graded import Graded
from autograder.classroom.tables import STATES, Count, counts
from autograder.marking import concepts, report
from autograder.marking.marks import Answered, Mark
from autograder.markup import inline

if TYPE_CHECKING:
    import jinja2

#: The stamps that a page repeats, with the names it gives them.
STAMPS = {"grader": "Grader", "interpreter": "Interpreter", "sandbox": "Sandbox", "vectors": "Hidden cases"}


def learner(graded: Graded, stamps: Mapping[str, Any], made: Sequence[Adjustment] = ()) -> str:
    """The page of one submission. ``stamps["book"]`` may hold the web address of the built book's chapters.

    ``made`` are adjustments by hand, which the page lists below the total.
    """
    grading = graded.grading
    listed = concepts.concepts(grading.all)
    values = {
        "title": f"Results of {graded.handed.name}",
        "handed": graded.handed,
        "fault": graded.fault,
        "grading": grading,
        "total": report.total(grading),
        "adjustments": made,
        "adjusted": f"{adjusted(grading.score, made):g} / {grading.points:g} points",
        "concepts": listed,
        "by_state": {state: [one for one in listed if one.state == state] for state in concepts.STATES},
        "first": concepts.following(listed),
    }
    return _page("learner.html", values, {"Handed in": grading.name, "SHA-256": grading.sha256}, stamps)


def classroom(rows: Sequence[Graded], stamps: Mapping[str, Any]) -> str:
    """The page of a class: scores, the hardest items, the most common mistakes, and a link to each learner's page.

    The links lead to ``ID.html`` in the same folder.
    """
    judged = [row.grading for row in rows if row.grading.all]
    counted = counts(rows)
    values = {
        "title": "The class",
        "rows": sorted(rows, key=lambda row: (row.handed.name.casefold(), row.handed.id)),
        "refused": [row for row in rows if row.grading.reason],
        "sandbox": str(stamps.get("sandbox") or ""),
        "scores": [grading.score for grading in judged],
        "points": judged[0].points if judged else 0,
        "bins": _bins([grading.score / grading.points if grading.points else 0.0 for grading in judged]),
        "states": STATES,
        "counted": sorted(counted, key=lambda count: (not count.tried, count.share)),
        "slips": _frequent(counted, "slips"),
        "hints": _frequent(counted, "hints"),
    }
    return _page("class.html", values, {}, stamps)


def _bins(shares: Sequence[float]) -> list[int]:
    """How many shares fall into each tenth; those above 1, which optional items make possible, into the last."""
    places = [min(9, int(10 * share + 1e-9)) for share in shares]
    return [places.count(index) for index in range(10)]


def _frequent(counted: Sequence[Count], kind: str) -> list[tuple[int, Count, str]]:
    """The ``slips`` or ``hints`` of all items, most frequent first: how often, the item's count, and the sentence."""
    found = [(times, count, text) for count in counted for text, times in getattr(count, kind).items()]
    return sorted(found, key=lambda one: (-one[0], one[1].id, one[2]))


def _page(template: str, values: dict[str, Any], facts: Mapping[str, str], stamps: Mapping[str, Any]) -> str:
    """A template filled in with ``values``. The page ends with ``facts`` and the stamps, as far as they are known."""
    known = {"grader": report.version(), **stamps}
    values["facts"] = [*facts.items(), *((name, str(known.get(stamp) or "")) for stamp, name in STAMPS.items())]
    values["hand_in"] = concepts.hand_in(concepts.book_of(stamps))
    values["reading"] = functools.partial(concepts.reading, book=concepts.book_of(stamps))
    page = _templates().get_template(template).render(values)
    return page.encode("utf-8", "replace").decode()  # a file name may contain bytes that are not UTF-8


@functools.cache
def _templates() -> jinja2.Environment:
    """The templates, compiled on first use. Jinja is imported here so that no command has to load it to start."""
    import jinja2
    from markupsafe import Markup, escape

    def said(sentence: str) -> Markup:
        return Markup(inline(sentence, book=False))  # which escapes the sentence

    def code(text: str) -> Markup:
        return Markup(f"<code>{escape(text)}</code>")

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("autograder.classroom"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters: dict[str, Callable[..., Any]] = {
        "said": said,
        "code": code,
        "name": lambda mark: code(mark.item.function) if isinstance(mark, Mark) else said(mark.item.title),
        "ideas": concepts.ideas,
        "failing": concepts.failing,
        "median": statistics.median,
        "mean": statistics.fmean,
    }
    tests: dict[str, Callable[..., Any]] = {
        "question": lambda mark: isinstance(mark, Answered),
        "optional": lambda mark: mark.item.bonus,
    }
    environment.filters.update(filters)
    environment.tests.update(tests)
    return environment

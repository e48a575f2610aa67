"""A grading as a table on the screen and as Gradescope's ``results.json``.

Gradescope hides the total as soon as one test is hidden, so groups of hidden cases appear as visible scores without
output. What a learner reads about them (a slip's sentence, or the hint of a group) is printed with the item's public
cases, together with the section of the book that explains it. The bank's author wrote these sentences.

There is no ``leaderboard``: it would show learners a ranking that nobody asked for.
"""

from __future__ import annotations

import functools
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any

from autograder import files
from autograder.marking import concepts
from autograder.marking.marks import Answered, Grading, Mark

#: The output written before grading starts, so that there is a result whatever happens.
UNFINISHED = "Grading did not finish. This costs no attempt; ask your instructor."
PUBLIC_DONE = "Public checks pass."


@functools.cache
def version() -> str:
    """The version of this grader."""
    try:
        return metadata.version("rankzero")
    except metadata.PackageNotFoundError:
        return "source"


# Gradescope


def unfinished() -> dict[str, Any]:
    """The result to write before grading starts."""
    return _results(0.0, 0.0, UNFINISHED, (), {"gradable": False, "reason": UNFINISHED})


def results(grading: Grading, stamps: Mapping[str, Any]) -> dict[str, Any]:
    """A grading in Gradescope's format. ``stamps`` (key, sandbox and the like) are added to ``extra_data``."""
    extra = {
        "gradable": not grading.reason,
        "reason": grading.reason,
        "submission": grading.name,
        "submission_sha256": grading.sha256,
        "grader": version(),
        "interpreter": f"{sys.implementation.name} {sys.version.split()[0]}",
        **stamps,
    }
    book = concepts.book_of(stamps)
    tests = [test for number, mark in _numbered(grading) for test in _tests(number, mark, book)]
    return _results(grading.score, grading.seconds, _headline(grading, book), tests, extra)


def _results(score: float, seconds: float, output: str, tests: Any, extra: dict[str, Any]) -> dict[str, Any]:
    return {
        "score": score,
        "execution_time": 10.0
        * math.ceil(seconds / 10),  # rounded, since a program could reveal an input by its running time
        "output": output,
        "output_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": extra,
        "tests": list(tests),
    }


def _headline(grading: Grading, book: str) -> str:
    if grading.reason and not grading.all:
        return f"Not graded: {grading.reason}."
    lines = [f"{total(grading)}.", *_course(grading, book)]
    lines += [f"Not judged: {grading.reason}."] if grading.reason else []
    lines += [f"Note: {problem}" for problem in grading.problems]
    page = concepts.hand_in(book) if grading.problems else ""
    return "\n".join([*lines, *([f"What to hand in: {page}"] if page else [])])


def _course(grading: Grading, book: str) -> list[str]:
    """How many concepts are in each state, and which one to work on next."""
    listed = concepts.concepts(grading.all)
    states = [concept.state for concept in listed]
    counted = ", ".join(f"{states.count(state)} {state}" for state in concepts.STATES if state in states)
    first = concepts.following(listed)
    lines = [f"Concepts: {counted}."] if listed else []
    return lines + ([f"Next: {first.topic}. {_read(first.section, book)}"] if first else [])


def _read(section: str, book: str) -> str:
    where = concepts.reading(section, book)
    return f"Read {where}: {where.address}" if where.address else f"Read {where}."


def _numbered(grading: Grading) -> Iterator[tuple[str, Mark | Answered]]:
    """Marks with numbers such as ``3.2``: the chapter, and the item's place among the graded items of that chapter."""
    places: dict[str, int] = {}
    for mark in grading.all:
        chapter = mark.item.section.split(".")[0]
        places[chapter] = places.get(chapter, 0) + 1
        yield f"{chapter}.{places[chapter]}", mark


def _tests(number: str, mark: Mark | Answered, book: str) -> Iterator[dict[str, Any]]:
    about = {"tags": [concepts.topic(mark)], "extra_data": {"item": mark.item.id, "state": mark.state}}
    if isinstance(mark, Answered):
        worth = 0.0 if mark.item.bonus else mark.points
        output = "\n".join([*mark.sentences, _read(mark.item.section, book)]) if mark.state != "right" else "Right."
        yield _test(mark.item.id, number, mark.score, worth, mark.state == "right", output) | about
        return
    for index, share in enumerate(mark.shares):
        worth = 0.0 if mark.item.bonus else share.points
        passed = share.passed == share.total > 0 and share.score == share.points
        where = number if index == 0 else f"{number}.{index}"
        output = "" if index else _feedback(mark, book)
        yield _test(f"{mark.item.id}: {share.name}", where, share.score, worth, passed, output) | about


def _test(name: str, number: str, score: float, worth: float, passed: bool, output: str) -> dict[str, Any]:
    test: dict[str, Any] = {"name": name, "number": number, "score": round(score, 6), "max_score": round(worth, 6)}
    test |= {"status": "passed" if passed else "failed", "visibility": "visible"}
    return test | ({"output": output, "output_format": "text"} if output else {})


def _feedback(mark: Mark, book: str) -> str:
    """What a learner reads about an item: what fails, what is misunderstood, and where the book explains it."""
    lines = [*mark.public]
    if mark.state in ("partly", "wrong", "right") and not mark.public:
        lines.append(PUBLIC_DONE)
    if mark.hidden:
        lines += ["Hidden cases:", *(f"- {sentence}" for sentence in mark.hidden)]
    if mark.state not in ("right", "unjudged"):
        lines.append(_read(mark.item.section, book))
    return "\n".join(lines)


def write(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write results, all or nothing, readable only by the owner of the file.

    Raises:
        ValueError: a number in it is NaN or infinite.
        OSError: the folder cannot be written.
    """
    files.save(path, json.dumps(content, allow_nan=False, indent=1) + "\n")


# The screen


def table(grading: Grading, line: str = "") -> str:
    """A grading for the screen: one row for each item, then the sentences about those that are not right."""
    if grading.reason and not grading.all:
        return f"{grading.name} is not graded: {grading.reason}."
    rows = [_row(mark) for mark in grading.all]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    text = [f"{identifier.ljust(widths[0])}  {points.rjust(widths[1])}  {state}" for identifier, points, state in rows]
    text += _advice(grading)
    text += [f"note: {problem}" for problem in grading.problems]
    text += [f"not judged: {grading.reason}"] if grading.reason else []
    text += [line] if line else []
    return "\n".join([*text, total(grading)])


def total(grading: Grading) -> str:
    """The score in words, with the points for optional items named separately."""
    optional = sum(mark.score for mark in grading.all if mark.item.bonus)
    more = f", and {optional:g} for optional items" if optional else ""
    return f"{grading.score - optional:g} of {grading.points:g} points{more}"


def _row(mark: Mark | Answered) -> tuple[str, str, str]:
    points = f"{mark.score:.3g} / {mark.points:g}"
    if isinstance(mark, Answered):
        return mark.item.id, points, mark.state if mark.state == "right" else mark.sentences[0]
    if mark.state in ("missing", "unwritten", "unjudged"):
        return mark.item.id, points, mark.public[0]
    public, groups = mark.shares[0], mark.shares[1:]
    passed = sum(group.passed == group.total for group in groups)
    hidden = f"{passed} of {len(groups)} hidden groups"
    return mark.item.id, points, f"{public.passed} of {public.total} public cases, {hidden}"


def _advice(grading: Grading) -> list[str]:
    """The sentences about each function that is not right, under its id."""
    lines: list[str] = []
    for mark in grading.marks:
        if mark.state in ("partly", "wrong"):
            lines += [mark.item.id, *(f"  {sentence}" for sentence in mark.public)]
            lines += [f"  hidden: {sentence}" for sentence in mark.hidden]
    return lines

"""Converts a graded submission to plain data, the content of a line of ``finished.jsonl``, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.classroom.collecting import Handed
from autograder.classroom.graded import Graded
from autograder.items import Build
from autograder.marking.marks import Answered, Grading, Mark, Share


def row_of(graded: Graded) -> dict[str, Any]:
    """A graded submission as plain data."""
    handed, grading = graded.handed, graded.grading
    return {
        "id": handed.id,
        "name": handed.name,
        "sha256": grading.sha256,
        "score": grading.score,
        "points": grading.points,
        "seconds": round(grading.seconds, 3),
        "reason": grading.reason,
        "late": handed.late,
        "known": dict(handed.known),
        "fault": graded.fault,
        "submission": grading.name,
        "problems": list(grading.problems),
        "marks": {mark.item.id: _plain_mark(mark) for mark in grading.marks},
        "questions": {question.item.id: [question.state, list(question.sentences)] for question in grading.questions},
    }


def _plain_mark(mark: Mark) -> dict[str, Any]:
    shares = [[share.name, share.passed, share.total, share.score, share.points] for share in mark.shares]
    texts = {"public": list(mark.public), "hidden": list(mark.hidden)}
    slip = {"slip": mark.slip} if mark.slip else {}
    return {"state": mark.state, "shares": shares} | {name: lines for name, lines in texts.items() if lines} | slip


def graded_of(row: Mapping[str, Any], items: Mapping[str, Any]) -> Graded:
    """The graded submission from which :func:`row_of` made ``row``; ``items`` are those of its grading, by id."""
    handed = Handed(row["id"], Path(row["submission"]), row["name"], row["known"], row["late"])
    marks = tuple(_mark(items[name], kept) for name, kept in row["marks"].items())
    questions = tuple(Answered(items[name], state, tuple(said)) for name, (state, said) in row["questions"].items())
    grading = Grading(
        row["submission"],
        row["sha256"],
        marks,
        questions,
        tuple(row["problems"]),
        row["reason"],
        row["seconds"],
    )
    return Graded(handed, grading, row["fault"])


def _mark(item: Build, kept: Mapping[str, Any]) -> Mark:
    shares = tuple(Share(*share) for share in kept["shares"])
    public, hidden = (tuple(kept.get(name, ())) for name in ("public", "hidden"))
    return Mark(item, kept["state"], shares, public, hidden, kept.get("slip", ""))

"""Compares two gradings of a class: whose score changed, on which items, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.classroom.graded import Graded
from autograder.marking.marks import Answered, Mark


@dataclass(frozen=True)
class Moved:
    """One submission whose grading changed. ``items`` maps the id of each changed item to a sentence."""

    id: str
    name: str
    before: str
    after: str
    items: Mapping[str, str]


def moved(old: Mapping[str, Graded], new: Mapping[str, Graded]) -> Iterator[Moved]:
    """The submissions whose gradings differ, sorted by id, including those that only one of the classes contains."""
    for identifier in sorted(old.keys() | new.keys()):
        before, after = old.get(identifier), new.get(identifier)
        row = after or before
        assert row is not None
        reasons = _items(before, after) if before and after else {}
        words = _score(before), _score(after)
        if reasons or words[0] != words[1]:
            yield Moved(identifier, row.handed.name, *words, reasons)


def _score(row: Graded | None) -> str:
    if row is None:
        return "not there"
    if row.grading.reason and not row.grading.all:
        return "not graded"
    return f"{row.grading.score:g} of {row.grading.points:g}"


def _items(before: Graded, after: Graded) -> dict[str, str]:
    """The reasons by item id; what concerns the whole submission is under the empty id."""
    found: dict[str, str] = {}
    if before.grading.sha256 != after.grading.sha256:
        found[""] = "a different submission was graded"
    if before.grading.reason != after.grading.reason:
        found[""] = f"no longer graded: {after.grading.reason}" if after.grading.reason else "can be graded now"
    marks = {mark.item.id: mark for mark in before.grading.all}
    for mark in after.grading.all:
        reason = _why(marks.pop(mark.item.id, None), mark)
        found |= {mark.item.id: reason} if reason else {}
    return found | {name: "no longer asked" for name in marks if after.grading.all}


def _why(before: Mark | Answered | None, after: Mark | Answered) -> str:
    """Why one item is graded differently; empty if it is not."""
    if before is None:
        return "was not asked before"
    reasons = []
    if before.points != after.points:
        reasons.append(f"worth {after.points:g} points, was {before.points:g}")
    if before.state != after.state:
        reasons.append(f"{after.state}, was {before.state}")
    passed = [tuple((share.name, share.passed) for share in getattr(mark, "shares", ())) for mark in (before, after)]
    if passed[0] != passed[1]:
        reasons.append("different cases pass")
    slips = [getattr(mark, "slip", "") for mark in (before, after)]
    if slips[0] != slips[1]:
        reasons.append(f"recognized now: {slips[1]}" if slips[1] else f"no longer recognized: {slips[0]}")
    if not reasons and before.score != after.score:
        reasons.append("points are awarded differently")
    score = f"{before.score:g} -> {after.score:g}"
    return f"{score} ({'; '.join(reasons)})" if reasons else ""


def table(rows: Iterator[Moved]) -> str:
    """The changes as text: a line for each submission, followed by one for each of its items."""
    lines: list[str] = []
    for row in rows:
        name = f" ({row.name})" if row.name != row.id else ""
        lines.append(f"{row.id}{name}: {row.before} -> {row.after}")
        lines += [f"  {item}: {reason}" if item else f"  {reason}" for item, reason in row.items.items()]
    return "\n".join(lines or ["Nothing differs."])

"""What differs between two gradings of a class: whose score moved, on which items, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.classroom import Graded
from autograder.judge import Answered, Mark


@dataclass(frozen=True)
class Moved:
    """One submission whose grading moved. ``items`` has a sentence for each item, by id."""

    id: str
    name: str
    before: str
    after: str
    items: Mapping[str, str]


def moved(old: Mapping[str, Graded], new: Mapping[str, Graded]) -> Iterator[Moved]:
    """The submissions that are not graded alike, by id. One that stands in one class alone moved from or to nothing."""
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
    """Why, for each item; under an empty id what concerns the whole submission."""
    found: dict[str, str] = {}
    if before.grading.sha256 != after.grading.sha256:
        found[""] = "another submission was graded"
    if before.grading.reason != after.grading.reason:
        found[""] = f"not graded now: {after.grading.reason}" if after.grading.reason else "could be graded now"
    marks = {mark.item.id: mark for mark in before.grading.all}
    for mark in after.grading.all:
        reason = _why(marks.pop(mark.item.id, None), mark)
        found |= {mark.item.id: reason} if reason else {}
    return found | {name: "not asked any more" for name in marks if after.grading.all}


def _why(before: Mark | Answered | None, after: Mark | Answered) -> str:
    """The reasons why one item is not as it was; empty when it is."""
    if before is None:
        return "was not asked before"
    reasons = []
    if before.points != after.points:
        reasons.append(f"worth {after.points:g} points, was {before.points:g}")
    if before.state != after.state:
        reasons.append(f"{after.state}, was {before.state}")
    passed = [tuple((share.name, share.passed) for share in getattr(mark, "shares", ())) for mark in (before, after)]
    if passed[0] != passed[1]:
        reasons.append("other cases are right")
    slips = [getattr(mark, "slip", "") for mark in (before, after)]
    if slips[0] != slips[1]:
        reasons.append(f"recognised now: {slips[1]}" if slips[1] else f"not recognised any more: {slips[0]}")
    if not reasons and before.score != after.score:
        reasons.append("another rule of points")
    score = f"{before.score:g} -> {after.score:g}"
    return f"{score} ({'; '.join(reasons)})" if reasons else ""


def table(rows: Iterator[Moved]) -> str:
    """For the screen: a line for each submission, and under it one for each item."""
    lines: list[str] = []
    for row in rows:
        name = f" ({row.name})" if row.name != row.id else ""
        lines.append(f"{row.id}{name}: {row.before} -> {row.after}")
        lines += [f"  {item}: {reason}" if item else f"  {reason}" for item, reason in row.items.items()]
    return "\n".join(lines or ["Nothing differs."])

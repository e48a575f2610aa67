"""A class as CSV tables, one row per submission or one row per item, and the counts that tables and pages need.

Cells contain text that people chose. Spreadsheets execute what looks like a formula, so such a cell gets a leading
apostrophe; control characters become ``?``.
"""

from __future__ import annotations

import csv
import io
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import get_args

from autograder.classroom.graded import Graded
from autograder.marking import concepts
from autograder.marking.marks import Answered, Mark, MarkState
from autograder.submission import shown

#: Fewer learners say nothing about how well an item discriminates.
MANY = 30
#: Characters with which a spreadsheet formula can begin.
FORMULA = ("=", "+", "-", "@")
STATES: tuple[MarkState, ...] = get_args(MarkState)


@dataclass
class Count:
    """How a class did on one item.

    Attributes:
        mark: any one of its marks, for the item and the points it is worth.
        states: the number of submissions in each of :data:`STATES`.
        earned: the points of all submissions together.
        shares: of each submission for which it was judged, the share of the item's points and of all others'.
        slips: how often each wrong program was recognized, by its sentence.
        hints: how often each hint was given.
    """

    mark: Mark | Answered
    states: Counter[str] = field(default_factory=Counter)
    earned: float = 0.0
    shares: list[tuple[float, float]] = field(default_factory=list)
    slips: Counter[str] = field(default_factory=Counter)
    hints: Counter[str] = field(default_factory=Counter)

    @property
    def id(self) -> str:
        return self.mark.item.id

    @property
    def judged(self) -> int:
        """The number of submissions for which the item could be judged."""
        return self.states.total() - self.states["unjudged"]

    @property
    def tried(self) -> int:
        """The number of submissions that attempt the item."""
        return self.judged - self.states["missing"] - self.states["unwritten"]

    @property
    def share(self) -> float:
        """The share of the possible points that was earned, from 0 to 1."""
        possible = self.mark.points * self.judged
        return self.earned / possible if possible else 0.0

    @property
    def discrimination(self) -> float | None:
        """How well the item tells who is good at the rest: the correlation of its share with that of all other items.

        From -1 to 1 (point-biserial where the item is right or wrong). None for fewer than :data:`MANY` learners, or
        where all have the same share.
        """
        if len(self.shares) < MANY:
            return None
        try:
            return statistics.correlation(*zip(*self.shares, strict=True))
        except statistics.StatisticsError:  # all are equal
            return None

    def add(self, mark: Mark | Answered, all_marks: Sequence[Mark | Answered] = ()) -> None:
        """Count one submission's mark; ``all_marks`` are those of the same submission, this one included."""
        self.states[mark.state] += 1
        self.earned += mark.score
        rest = [one for one in all_marks if one is not mark and one.state != "unjudged"]
        if mark.state != "unjudged" and mark.points and (possible := sum(one.points for one in rest)):
            self.shares.append((mark.score / mark.points, sum(one.score for one in rest) / possible))
        if isinstance(mark, Mark):
            self.slips.update([mark.slip] if mark.slip else [])
            self.hints.update(concepts.hints(mark))
        elif mark.state == "wrong":
            self.hints.update(mark.sentences)


def counts(rows: Iterable[Graded]) -> list[Count]:
    """The counts of all items, in the order in which the items were graded."""
    found: dict[str, Count] = {}
    for row in rows:
        for mark in row.grading.all:
            found.setdefault(mark.item.id, Count(mark)).add(mark, row.grading.all)
    return list(found.values())


def guarded(cell: object) -> object:
    """A cell that no spreadsheet executes and that sends no control codes to a terminal; numbers stay numbers."""
    if not isinstance(cell, str):
        return cell
    text = shown(cell)
    return f"'{text}" if text.startswith(FORMULA) else text


def text(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A table as CSV, every cell :func:`guarded`. Lines end in CRLF (RFC 4180), so line breaks in cells are quoted."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([guarded(name) for name in header])
    writer.writerows([guarded(cell) for cell in line] for line in lines)
    return out.getvalue()


def class_csv(rows: Sequence[Graded]) -> str:
    """One row per submission: who handed it in, whether it could be graded, the score, and the score of each item.

    A submission that could not be graded has no score: its cells are empty, not 0.
    """
    items = list(dict.fromkeys(mark.item.id for row in rows for mark in row.grading.all))
    header = ["id", "name", "email", "sid", "late", "gradable", "reason", "score", "points", *items]
    return text(header, (_line(row, items) for row in rows))


def _line(row: Graded, items: Sequence[str]) -> list[object]:
    handed, grading = row.handed, row.grading
    scores = {mark.item.id: _number(mark.score) for mark in grading.all if mark.state != "unjudged"}
    total: list[object] = [_number(grading.score), _number(grading.points)] if grading.all else ["", ""]
    who = [handed.id, handed.name, handed.known.get("email", ""), handed.known.get("sid", "")]
    state = ["yes" if handed.late else "no", "no" if grading.reason else "yes", grading.reason]
    return [*who, *state, *total, *(scores.get(item, "") for item in items)]


def items_csv(rows: Sequence[Graded]) -> str:
    """One row per item: how the class did on it, and the mistake that was recognized most often."""
    header = [
        "item",
        "section",
        "concept",
        "points",
        *STATES,
        "share",
        "discrimination",
        "slip",
        "times",
        "hint",
        "given",
    ]
    return text(header, map(_item_line, counts(rows)))


def _item_line(count: Count) -> list[object]:
    about = [count.id, count.mark.item.section, concepts.topic(count.mark), _number(count.mark.points)]
    most = [list(counted.most_common(1)[0]) if counted else ["", 0] for counted in (count.slips, count.hints)]
    told = "" if count.discrimination is None else round(count.discrimination, 2)
    return [*about, *(count.states[state] for state in STATES), round(count.share, 4), told, *most[0], *most[1]]


def _number(value: float) -> float:
    """Points, without rounding noise from adding them up; a whole number as an integer."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded

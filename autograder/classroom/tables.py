"""A class as tables: a row for each submission, a row for each item, and the counts that both reports need.

Cells are text that people chose. Spreadsheets run what looks like a formula, so such a cell gets a leading quote;
control characters become ``?``.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder import concepts
from autograder.judge import Answered, Mark
from autograder.submission import shown

if TYPE_CHECKING:
    from autograder.classroom import Graded

#: What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@")
STATES = ("right", "partly", "wrong", "missing", "unwritten", "unjudged")


@dataclass
class Count:
    """What a class made of one item.

    Attributes:
        mark: one of its marks, for the item and what it is worth.
        states: how many submissions came to each of :data:`STATES`.
        earned: points of all submissions together.
        slips: how often each wrong program was recognised, by its sentence.
        hints: how often each hint was given.
    """

    mark: Mark | Answered
    states: Counter[str] = field(default_factory=Counter)
    earned: float = 0.0
    slips: Counter[str] = field(default_factory=Counter)
    hints: Counter[str] = field(default_factory=Counter)

    @property
    def id(self) -> str:
        return self.mark.item.id

    @property
    def judged(self) -> int:
        """Submissions for which the item could be judged."""
        return self.states.total() - self.states["unjudged"]

    @property
    def tried(self) -> int:
        """Submissions that hold an attempt at it."""
        return self.judged - self.states["missing"] - self.states["unwritten"]

    @property
    def share(self) -> float:
        """The share of the possible points that was earned, 0 to 1."""
        possible = self.mark.points * self.judged
        return self.earned / possible if possible else 0.0

    def add(self, mark: Mark | Answered) -> None:
        """Count one submission's mark."""
        self.states[mark.state] += 1
        self.earned += mark.score
        if isinstance(mark, Mark):
            self.slips.update([mark.slip] if mark.slip else [])
            self.hints.update(concepts.hints(mark))
        elif mark.state == "wrong":
            self.hints.update(mark.sentences)


def counts(rows: Iterable[Graded]) -> list[Count]:
    """The counts of every item, in the order in which items were graded."""
    found: dict[str, Count] = {}
    for row in rows:
        for mark in row.grading.all:
            found.setdefault(mark.item.id, Count(mark)).add(mark)
    return list(found.values())


def guarded(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula, and that steers no terminal; numbers stay numbers."""
    if not isinstance(cell, str):
        return cell
    text = shown(cell)
    return f"'{text}" if text.startswith(FORMULA) else text


def text(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A table as CSV, every cell :func:`guarded`. Lines end as in RFC 4180, so that a return in a cell is quoted."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([guarded(name) for name in header])
    writer.writerows([guarded(cell) for cell in line] for line in lines)
    return out.getvalue()


def class_csv(rows: Sequence[Graded]) -> str:
    """One row for each submission: who, whether it could be graded, the score, then the score of each item.

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
    """One row for each item: what the class made of it, and the mistake that was recognised most often."""
    header = ["item", "section", "concept", "points", *STATES, "share", "slip", "times", "hint", "given"]
    return text(header, map(_item_line, counts(rows)))


def _item_line(count: Count) -> list[object]:
    about = [count.id, count.mark.item.section, concepts.topic(count.mark), _number(count.mark.points)]
    most = [list(counted.most_common(1)[0]) if counted else ["", 0] for counted in (count.slips, count.hints)]
    return [*about, *(count.states[state] for state in STATES), round(count.share, 4), *most[0], *most[1]]


def _number(value: float) -> float:
    """Points with the noise of adding them up taken off; a whole number without its point."""
    rounded = round(value, 6)
    return int(rounded) if rounded == int(rounded) else rounded

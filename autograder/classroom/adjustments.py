"""Points that a person adds to or takes from scores, with a sentence for the learner.

The file is CSV with the columns ``id`` (as in ``class.csv``), ``points`` (``1``, ``-0.5``) and ``sentence``. Where
Excel separates by semicolons, it writes ``-0,5``, and both are read. The graded class stays as it is: adjustments are
applied where pages, columns and feedback are written.
"""

from __future__ import annotations

import csv
import difflib
import io
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

COLUMNS = ("id", "points", "sentence")


class NoAdjustments(Exception):
    """A file is not a list of adjustments; the message is one sentence that names its line."""


@dataclass(frozen=True)
class Adjustment:
    """Points for one learner, and why."""

    points: float
    sentence: str

    def __str__(self) -> str:
        return f"{self.points:+g} points: {self.sentence}"


#: The adjustments of a class, by id.
Adjustments = Mapping[str, Sequence[Adjustment]]


def read(text: str, known: Collection[str]) -> Adjustments:
    """The adjustments in the text of a file.

    Args:
        text: of the file, with or without a byte-order mark.
        known: the ids of the class.

    Raises:
        NoAdjustments: a column is missing, an id is not in the class, points are no number, a sentence is empty.
    """
    text = text.removeprefix("\ufeff")
    mark = ";" if ";" in text.partition("\n")[0] else ","
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark)
    names = [name.strip() for name in rows.fieldnames or ()]
    if sorted(names) != sorted(COLUMNS):
        raise NoAdjustments(f"the first line must be {','.join(COLUMNS)}, got {','.join(names) or 'nothing'}")
    rows.fieldnames = names
    found: dict[str, list[Adjustment]] = defaultdict(list)
    for row in rows:
        identifier, points, sentence = ((row[name] or "").strip() for name in COLUMNS)
        sentence = " ".join(sentence.split())  # of several lines
        where = f"line {rows.line_num}"
        if identifier not in known:
            raise NoAdjustments(f"{where}: nobody in the class has the id {identifier!r}{similar(identifier, known)}")
        if not sentence or None in row:
            sign = "semicolon" if mark == ";" else "comma"
            raise NoAdjustments(f"{where}: a sentence for {identifier} is needed, in quotes if it has a {sign}")
        found[identifier].append(
            Adjustment(_points(points.replace(",", ".") if mark == ";" else points, where), sentence)
        )
    return found


def similar(name: str, known: Collection[str]) -> str:
    """The id that was probably meant, as the end of a sentence; empty if none is like it."""
    near = difflib.get_close_matches(name, [*known], n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _points(text: str, where: str) -> float:
    try:
        points = float(text)
    except ValueError:
        points = math.nan
    if not math.isfinite(points):
        raise NoAdjustments(f"{where}: points must be a number such as 1 or -0.5, got {text!r}")
    return points


def adjusted(score: float, made: Sequence[Adjustment]) -> float:
    """A score with what was added and taken away; not below 0."""
    return max(0.0, round(score + sum(adjustment.points for adjustment in made), 6))

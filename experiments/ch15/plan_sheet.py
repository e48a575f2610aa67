"""The sheet of a training plan: what each of six decisions comes to, beside what is published. Standard library only.

>>> print(sheet(Row("model", "parameters", 405.9, "billion", 405)).splitlines()[2])
model       parameters                      405.9 billion              405     +0.2%
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rankzero import checks

#: The decisions, in the order in which they are made.
DECISIONS = ("model", "batch", "layout", "memory", "checkpoint", "failures")

HEAD = f"{'decision':<12}{'what':<28}{'your plan':>17}{'published':>17}{'error':>10}"


@dataclass(frozen=True)
class Row:
    """A line of the sheet.

    Attributes:
        decision: the one that it follows from, a name in :data:`DECISIONS`.
        what: the quantity, in words.
        value: what the plan comes to, in ``unit``.
        unit: short, as printed; empty for a plain number.
        published: in the same unit; a pair of limits where a range is published (0 or infinity where one end is open),
            and None where nothing is.
    """

    decision: str
    what: str
    value: float
    unit: str = ""
    published: float | tuple[float, float] | None = None

    @property
    def error(self) -> str:
        """How far the value is from the published one, or on which side of the limits."""
        if self.published is None:
            return ""
        if isinstance(self.published, tuple):
            low, high = self.published
            return "within" if low <= self.value <= high else "outside"
        return f"{self.value / self.published - 1:+.1%}"

    @property
    def plan(self) -> str:
        """The value with its unit."""
        return f"{_number(self.value)} {self.unit}".strip()

    def __str__(self) -> str:
        """The line, without its decision."""
        return f"{self.what:<28}{self.plan:>17}{_published(self.published):>17}{self.error:>10}".rstrip()


def sheet(*rows: Row, filled: Sequence[Row] = ()) -> str:
    """The sheet as text: its rows in the order of the decisions, and "open" for a decision without rows.

    Args:
        rows: printed in full.
        filled: rows of earlier decisions, each of which takes a single line.
    """
    for row in (*rows, *filled):
        checks.one_of(DECISIONS, decision=row.decision)
    return "\n".join((HEAD, "-" * len(HEAD), *_lines(rows, filled)))


def _lines(rows: Sequence[Row], filled: Sequence[Row]) -> Iterator[str]:
    for decision in DECISIONS:
        mine = [row for row in rows if row.decision == decision]
        yield from (f"{decision if row is mine[0] else '':<12}{row}" for row in mine)
        if not mine:
            yield f"{decision:<12}{_brief([row for row in filled if row.decision == decision])}"


def _brief(rows: Sequence[Row]) -> str:
    """The plan of a decision on one line, as far as it has room; "open" if there is none."""
    text = "; ".join(f"{row.what}: {row.plan}" for row in rows) or "open"
    room = len(HEAD) - 12
    return text if len(text) <= room else f"{text[: room - 5].rpartition('; ')[0]}; ..."


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.4g}"


def _published(value: float | tuple[float, float] | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, tuple):
        return _number(value)
    low, high = value
    if math.isinf(high):
        return f"over {_number(low)}"
    return f"{_number(low)} to {_number(high)}" if low else f"up to {_number(high)}"

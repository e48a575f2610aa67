"""What a benchmark found, as rows of RESULTS.md: each says what is compared, why that is fair, and by how much."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Row:
    """One line.

    Attributes:
        what: what was measured.
        ours: the figure, in ``unit``.
        unit: short, as printed; empty for a plain number.
        beside: what it is compared with; empty where only a goal is set.
        other: the figure of that, in ``unit``.
        fair: why the two can be compared, in a sentence.
        most, least: the goal, where there is one.
        goal: what the goal limits: ``"ours"``, or the ratio of ours to the other.
        missed_by: what the time goes into where the goal is missed, in a sentence.
    """

    what: str
    ours: float
    unit: str = ""
    beside: str = ""
    other: float | None = None
    fair: str = ""
    most: float | None = None
    least: float | None = None
    goal: Literal["ours", "ratio"] = "ours"
    missed_by: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over the other; None where there is no other, or it is zero."""
        return self.ours / self.other if self.other else None

    @property
    def missed(self) -> bool:
        """Whether there is a goal that was not reached."""
        value = self.ours if self.goal == "ours" else self.ratio
        if value is None:
            return False
        return (self.most is not None and value > self.most) or (self.least is not None and value < self.least)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser that knows where the rows go."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n")[0])
    parser.add_argument("--rows", type=Path, metavar="FILE", help="write the rows here, as JSON")
    return parser


def keep(rows: Sequence[Row], options: argparse.Namespace, whole: bool = False) -> None:
    """Write the rows where that was asked; those of a long program so far, for the case that it is ended or fails."""
    if options.rows:
        draft = options.rows.with_suffix(".part")
        draft.write_text(json.dumps({"whole": whole, "rows": [asdict(row) for row in rows]}), encoding="utf-8")
        draft.replace(options.rows)


def finish(rows: Sequence[Row], options: argparse.Namespace) -> int:
    """Keep the rows, and say what was missed; the exit status."""
    keep(rows, options, whole=True)
    for row in rows:
        if row.missed:
            print(f"missed: {row.what}: {shown(row)}")
    return int(any(row.missed for row in rows))


def shown(row: Row) -> str:
    """The figure or the ratio beside its goal."""
    value = row.ours if row.goal == "ours" else row.ratio
    limit = f"at most {row.most:g}" if row.most is not None else f"at least {row.least:g}"
    return f"{'ratio ' if row.goal == 'ratio' else ''}{value:.3g} ({limit} aimed at)"


def read(rows: Sequence[dict[str, Any]]) -> list[Row]:
    """Rows from their JSON."""
    return [Row(**row) for row in rows]

"""The engineer's sheet of a system, as text: one row a level, each figure beside the least that is possible."""

from __future__ import annotations

import textwrap

from autograder.items import Cost, System, Verdict
from autograder.submission import Submission

#: Columns of the page that the sheet fits.
WIDTH = 100
ROW = "{:<27}{:<8}{:>20}{:>20}{:>13}"


def head(system: System) -> str:
    """What is graded, and the names of the columns."""
    columns = ROW.format("level", "verdict", *system.columns.values())
    return f"{system.id}: {len(system.levels)} levels; {system.measured}\n{columns}"


def row(system: System, number: int, verdict: Verdict, said: str = "") -> str:
    """The level with this number, from 1; below it, what is wrong, unless it has been ``said`` already."""
    figures = ["" if verdict.wrong else _beside(getattr(verdict.costs, name)) for name in system.columns]
    word = "open" if verdict.open else "wrong" if verdict.wrong else "right"
    line = ROW.format(f"{number} {system.levels[number - 1].name}", word, *figures).rstrip()
    if verdict.wrong in ("", said):
        return line
    return f"{line}\n{textwrap.fill(verdict.wrong, WIDTH, initial_indent='    ', subsequent_indent='    ')}"


def foot(system: System, handed: Submission, right: int, tried: int = 0) -> str:
    """How many of the ``tried`` levels (0: all) are right, and whether the program is as short as it has to be."""
    found = lines(system, handed)
    length = f"; {found} lines, at most {system.lines}" if found else ""
    tried = tried or len(system.levels)
    levels = f"{tried} level{'s' * (tried != 1)}"
    return f"{system.id}: {right} of {levels}{length}{', too long' if found > system.lines else ''}"


def lines(system: System, handed: Submission) -> int:
    """Lines of the program's own module; 0 in a notebook or a single file, which may hold other things."""
    own = [unit.source for unit in handed.units if unit.module == system.item.module]
    return sum(source.count("\n") for source in own)


def _beside(cost: Cost | None) -> str:
    return "-" if cost is None else f"{_figure(cost.spent)} / {_figure(cost.least)}"


def _figure(number: float) -> str:
    """With a digit after the point if it is small and no whole number."""
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"

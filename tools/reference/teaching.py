"""What an instructor plans with, on the instructors' page: courses by weeks, and what each kind of work is worth.

Hours are those of the rule of :mod:`tools.pages`, points those of the bank.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autograder import bank
from autograder.items import Design, Simulated, System
from tools import pages

from .markup import address, chapter_of, inline, table
from .routes import counted

WEEKS = (4, 8, 14)
#: What the end of a week within a chapter costs, in squared hours by which weeks may differ instead.
WITHIN = 0.1
_NUMBERED = re.compile(r"(\d+\.\d+) ")


@dataclass(frozen=True)
class Unit:
    """What no week divides: a section, or the program of a milestone.

    Attributes:
        section: its number; a milestone has that of its section.
        hours: of reading and work.
        ends: whether its chapter ends with it.
        system: the milestone, or None for a section.
    """

    section: str
    hours: float
    ends: bool = False
    system: System | None = None


def _sections(page: pages.Page) -> Iterator[tuple[str, float]]:
    """The numbered sections of a page with their hours; what has no number counts with the section before it, and what
    a page opens with, with the first."""
    numbered = [_NUMBERED.match(section.title) for section in page.sections]
    starts = [at for at, found in enumerate(numbered) if found]
    for start, end in pairwise([0, *starts[1:], len(page.sections)]):
        name = next(found[1] for found in numbered[start:end] if found)
        yield name, sum(one.reading + one.work for one in page.sections[start:end]) / 60


@functools.cache
def units() -> tuple[Unit, ...]:
    """The path from its first section to its last; a milestone comes after the sections of its chapter."""
    result = []
    for page in counted():
        found = [Unit(name, hours) for name, hours in _sections(page)]
        number = str(page.chapter.number)
        systems = [one for one in bank.systems() if one.item.section.partition(".")[0] == number]
        found += [Unit(one.item.section, pages.MINUTES["line"] * one.lines / 60, system=one) for one in systems]
        last = found.pop()
        result += [*found, Unit(last.section, last.hours, True, last.system)]
    return tuple(result)


def cut(path: Sequence[Unit], weeks: int) -> list[Sequence[Unit]]:
    """The path in ``weeks`` parts, of hours as equal as can be without ending too many weeks within a chapter.

    Raises:
        ValueError: there are fewer units than weeks.
    """
    if weeks > len(path):
        raise ValueError(f"{len(path)} units cannot fill {weeks} weeks")
    mean = sum(unit.hours for unit in path) / weeks

    @functools.cache
    def best(start: int, left: int) -> tuple[float, tuple[int, ...]]:
        """The least cost of the path from ``start`` on in ``left`` weeks, and where they end."""
        if left == 0:
            return (0.0 if start == len(path) else math.inf), ()
        found: list[tuple[float, tuple[int, ...]]] = [(math.inf, ())]
        hours = 0.0
        for end in range(start + 1, len(path) - left + 2):
            hours += path[end - 1].hours
            rest, ends = best(end, left - 1)
            found.append(((hours - mean) ** 2 + WITHIN * (not path[end - 1].ends) + rest, (end, *ends)))
        return min(found)

    return [path[start:end] for start, end in pairwise((0, *best(0, weeks)[1]))]


def _link(section: str, text: str = "") -> str:
    return f'<a href="{address(section)}">{text or section}</a>'


def _milestones(week: Sequence[Unit]) -> list[System]:
    return [unit.system for unit in week if unit.system]


def _points(week: Sequence[Unit]) -> float:
    """The points of the functions of a week's sections, without what is optional."""
    sections = {unit.section for unit in week if not unit.system}
    return sum(item.points for item in bank.builds() if item.section in sections and not item.bonus)


def _week(number: int, week: Sequence[Unit]) -> tuple[str, ...]:
    read = [unit.section for unit in week if not unit.system]
    first, last = (read[0], read[-1]) if read else ("", "")
    sections = f"{_link(first)} to {_link(last)}" if first != last else _link(first) if first else "–"
    chapters = dict.fromkeys(chapter_of(section).title for section in read)
    due = ", ".join(_link(one.item.section, inline(one.item.topic)) for one in _milestones(week))
    hours = sum(unit.hours for unit in week)
    return f"{number}", sections, f"{hours:.1f}", f"{_points(week):g}", due or "–", inline("; ".join(chapters)) or "–"


def courses() -> str:
    """The courses, week by week, in Markdown."""
    header = ("week", "sections", "hours", "points", "milestone due", "chapters")
    total = sum(unit.hours for unit in units())
    result = [
        f"The path takes a learner about {total:.0f} hours, by the rule on the [opening page](intro.md)."
        " Each week ends where hours come out nearly even, at the end of a chapter if there is one near. Points are"
        " those of the functions and repairs in its sections, and the hours of a milestone are in the week in which"
        " it is due."
    ]
    for weeks in WEEKS:
        parts = cut(units(), weeks)
        found = [sum(unit.hours for unit in part) for part in parts]
        rows = [_week(number, part) for number, part in enumerate(parts, 1)]
        result.append(f"### {weeks} weeks, {min(found):.1f} to {max(found):.1f} hours each\n\n{table(header, rows)}")
    return "\n\n".join(result)


# What work is worth


@dataclass(frozen=True)
class Work:
    """Graded work of one kind on the path: what it is, how much of it, and hours."""

    name: str
    amount: str
    hours: float
    unit: str = ""
    units: int = 0


def _counted(*kinds: str) -> tuple[int, float]:
    number = sum(page.counts[kind] for page in counted() for kind in kinds)
    return number, sum(pages.MINUTES[kind] * page.counts[kind] for page in counted() for kind in kinds) / 60


def graded_levels(system: System) -> int:
    """How many levels of a milestone count, without those for a bonus."""
    return sum("(bonus)" not in level.name for level in system.levels)


def works() -> list[Work]:
    """All graded work of the path."""
    functions, functions_hours = _counted("build", "repair")
    questions, questions_hours = _counted("derive", "explain", "trace", "estimate")
    designs, designs_hours = _counted("design")
    points = sum(item.points for item in bank.builds() if not item.bonus)
    result = [
        Work("functions and repairs", f"{functions}, {points:g} points", functions_hours, "point", round(points)),
        Work("questions", f"{questions}", questions_hours, "question", questions),
        Work("designs, without their reasons", f"{designs}", designs_hours, "design", designs),
    ]
    for system in bank.systems():
        number = graded_levels(system)
        name = f"milestone: {_link(system.item.section, inline(system.item.topic))}"
        hours = pages.MINUTES["line"] * system.lines / 60
        result.append(Work(name, f"{number} levels, at most {system.lines} lines", hours, "level", number))
    return result


def worth() -> str:
    """What each kind of work is worth, by its hours, in Markdown."""
    found = works()
    total = sum(work.hours for work in found)
    rows = [
        (
            work.name,
            work.amount,
            f"{work.hours:.1f}",
            f"{100 * work.hours / total:.0f} %",
            f"{100 * work.hours / total / work.units:.2f} % per {work.unit}",
        )
        for work in found
    ]
    return table(("work", "how much on the path", "hours", "share of a grade", "for each"), rows)


# Designs and their reasons


def designs() -> str:
    """Where the designs of the path are, in a sentence."""
    found = [item for item in bank.items() if isinstance(item, Design) and not item.bonus]
    links = [_link(item.section) for item in found]
    return f"The path has {len(found)} designs, in sections {', '.join(links[:-1])} and {links[-1]}.\n"


#: The design of the example, what its writer chose, the next faster one, and what she would rather have had.
EXAMPLE = "05-design-30b"
CHOSEN, FASTER, WISHED = (3, 128, 8), (3, 256, 4), (3, 256, 8)


def _outcome(design: Design, values: tuple[int, ...]) -> Simulated:
    return design.simulate(**design.choices(values))


def reasons() -> str:
    """Reasons that earn all points of the rubric, with the simulator's numbers, in Markdown.

    Raises:
        ValueError: the simulator no longer says what the example says.
    """
    design = bank.find(EXAMPLE)
    if not isinstance(design, Design):
        raise ValueError(f"{EXAMPLE} is not a design")
    (stage, ranks, sequences), (_, more, fewer) = CHOSEN, FASTER
    chosen, faster, wished = (_outcome(design, values) for values in (CHOSEN, FASTER, WISHED))
    (seconds, hours), (least, most) = chosen.costs, faster.costs
    if chosen.broken or faster.broken or "than the batch" not in wished.broken or (seconds < least) or (hours > most):
        raise ValueError(f"the example of {EXAMPLE} no longer holds: {chosen}, {faster}, {wished}")
    return (
        f"> **What binds.** I chose ZeRO stage {stage} on {ranks} GPUs with {sequences} sequences in a micro-batch:"
        f" {seconds:.1f} s and {hours:.2f} GPU-hours a step. The batch binds, not the memory: {ranks} times"
        f" {sequences} is {ranks * sequences:,}, the whole batch, so there is one micro-step, and of {more}"
        f" GPUs with {sequences} each, half would have nothing to do.\n>\n"
        f"> **What I did not take.** With {more} GPUs and {fewer} sequences a step takes {least:.1f} s, but"
        f" {most:.2f} GPU-hours: the slices are sent to twice as many GPUs for the same work.\n>\n"
        f"> **Why.** The run is paid by the hour and nobody waits for it, so a step may take"
        f" {100 * (seconds / least - 1):.0f} % longer if it costs {100 * (1 - hours / most):.0f} % less.\n>\n"
        "> **What the model leaves out.** It hides no sending behind work. If gathering overlapped with computing, the"
        " design with more GPUs would gain more, because sending is a larger part of its step, and I would look at it"
        " again.\n"
    )

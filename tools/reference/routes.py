"""Three ways through the course, on the opening page, with hours by the rule of :mod:`tools.pages`."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

import nbformat

from rankzero.facts.chapters import CHAPTERS, Chapter
from tools import pages
from tools.common import BOOK

from .markup import address, chapter_of, inline, table, title

#: The sections of one evening, each with what it shows.
EVENING = {
    "2.3": "a program that waits for itself forever",
    "3.6": "how every rank gets the sum, with nobody in charge",
    "3.7": "and why that costs almost the same on eight ranks as on a thousand",
    "5.6": "eight copies of the same memory, and how to keep one",
    "9.6": "an operating system's oldest trick, played on a GPU",
    "13.10": "a model that learns to please its judge",
}
#: The chapters that somebody needs who comes for one thing.
TOPICS = {
    "training on many GPUs": (1, 2, 3, 4, 5, 6, 7, 15),
    "serving": (1, 2, 8, 9, 10, 11),
    "RLHF": (1, 2, 3, 5, 6, 8, 9, 12, 13, 14),
}
WEEKS = (4, 8, 14)


@functools.cache
def counted() -> tuple[pages.Page, ...]:
    """What each chapter asks of its reader."""
    return tuple(pages.read(chapter, nbformat.read(BOOK / f"{chapter.page}.ipynb", 4).cells) for chapter in CHAPTERS)


def hours(chapter: Chapter) -> float:
    """Reading and work of a chapter, without what is optional."""
    page = counted()[chapter.number - 1]
    return (page.reading + page.work) / 60


def reading(section: str) -> float:
    """Minutes to read a section."""
    found = counted()[chapter_of(section).number - 1].sections
    return next(one.reading for one in found if one.title.startswith(f"{section} "))


def split(amounts: Sequence[float], parts: int) -> list[int]:
    """Where each part but the first begins, if ``amounts`` are cut into ``parts`` so that the largest sum is least.

    No part is empty.

    >>> split([1, 2, 3, 4], 3)
    [2, 3]
    """
    sums = [0.0, *accumulate(amounts)]
    best: list[list[tuple[float, list[int]]]] = [[(sums[end], []) for end in range(len(sums))]]
    for _ in range(parts - 1):
        row = [
            min(
                ((max(best[-1][cut][0], sums[end] - sums[cut]), [*best[-1][cut][1], cut]) for cut in range(1, end)),
                default=(math.inf, []),
            )
            for end in range(len(sums))
        ]
        best.append(row)
    return best[-1][-1][1]


def _link(section: str) -> str:
    return f'<a href="{address(section)}">{inline(title(section))}</a>'


def _range(chapters: Sequence[Chapter]) -> str:
    first, last = chapters[0].number, chapters[-1].number
    return f"{first}" if first == last else f"{first}–{last}"


def _schedule(weeks: int) -> tuple[str, str, str]:
    cuts = [0, *split([hours(chapter) for chapter in CHAPTERS], weeks), len(CHAPTERS)]
    parts = [CHAPTERS[start:end] for start, end in pairwise(cuts)]
    most = max(sum(map(hours, part)) for part in parts)
    return f"{weeks} weeks", f"at most {most:.0f}", f"chapters {', '.join(map(_range, parts))}"


def _rule() -> str:
    """The rule that the hours follow, in words."""
    minutes = pages.MINUTES
    questions = [minutes[name] for name in ("derive", "explain", "trace", "estimate", "design")]
    return (
        f"The hours follow one rule: {pages.WORDS_A_MINUTE} words a minute, {60 * minutes['run']:.0f} seconds for a"
        f" picture or a run, {min(questions):.0f} to {max(questions):.0f} minutes for a question,"
        f" {minutes['repair']:.0f} to repair a function, {minutes['build']:.0f} to build one, and"
        f" {60 * minutes['line']:.0f} seconds for each line that the program of a milestone may have."
        " What a page calls optional is not counted."
    )


def text() -> str:
    """The routes, in Markdown."""
    minutes = sum(map(reading, EVENING))
    evening = "".join(f"- {_link(section)}: {what}.\n" for section, what in EVENING.items())
    weeks = table(("the whole path in", "hours a week", "week by week"), map(_schedule, WEEKS))
    rows = [
        (
            name,
            f"{sum(hours(CHAPTERS[number - 1]) for number in numbers):.0f}",
            f"chapters {', '.join(map(str, numbers))}",
        )
        for name, numbers in TOPICS.items()
    ]
    topics = table(("one topic", "hours", "chapters"), rows)
    return (
        f"**One evening.** Press *Run* on the first screen of [chapter 1]({CHAPTERS[0].page}.ipynb), then read six"
        f" sections, about {minutes:.0f} minutes without their tasks:\n\n{evening}\n{weeks}\n{topics}\n{_rule()}\n"
    )

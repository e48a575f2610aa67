"""Numbers that disagree: every correction of the course, by chapter, in the order of its sections."""

from __future__ import annotations

import functools

from experiments.correction import Correction, Worked
from experiments.corrections import every
from rankzero.facts.chapters import CHAPTERS

from .markup import chapter_of, command, dotted, inline, records, section_link, title


@functools.cache
def by_section() -> dict[str, tuple[Correction, ...]]:
    """The corrections of each section that has some, in the order of the book."""
    result: dict[str, tuple[Correction, ...]] = {}
    for one in sorted(every(), key=lambda one: tuple(map(int, one.section.split(".")))):
        result[one.section] = (*result.get(one.section, ()), one)
    return result


def anchor(section: str, number: int) -> str:
    """The id of the correction at ``number`` in a section, counted from 1."""
    return f"disagree-{section.replace('.', '-')}-{number}"


def _call(worked: Worked) -> str:
    return f"{command(worked.call)} is {command(worked.result)}"


def _functions(correction: Correction) -> str:
    """Where the functions stand, each once; Python's own need no place."""
    found = dict.fromkeys(worked.function for worked in correction.worked)
    return ", ".join(dotted(f"{one.__module__}.{one.__name__}") for one in found if one.__module__ != "builtins")


def entry(correction: Correction, number: int) -> str:
    """One correction: its title, the claim, what holds, the calls that show it, their functions, and the source."""
    parts = [
        ("Claim", inline(correction.claim)),
        ("Instead", inline(correction.text)),
        ("Calls", "<br>".join(map(_call, correction.worked))),
        ("From", _functions(correction)),
        ("Source", inline(correction.source)),
        ("Section", section_link(correction.section, title(correction.section))),
    ]
    head = f"({anchor(correction.section, number)})=\n### {correction.title}\n"
    return f'{head}\n<div class="rz-correction">\n{records(parts)}\n</div>\n'


def text() -> str:
    """The page's generated part."""
    parts = []
    for chapter in CHAPTERS:
        mine = [found for section, found in by_section().items() if chapter_of(section) == chapter]
        if mine:
            parts.append(f"## {chapter.number}. {chapter.title}\n")
            parts += [entry(one, number) for found in mine for number, one in enumerate(found, 1)]
    return "\n".join(parts)

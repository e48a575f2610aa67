"""Numbers that disagree: every correction of the course, by chapter and section."""

from __future__ import annotations

import functools

from experiments.correction import Correction
from experiments.corrections import every
from rankzero.facts.chapters import CHAPTERS

from .markup import chapter_of, inline, records, section_link, title


@functools.cache
def by_section() -> dict[str, tuple[Correction, ...]]:
    """The corrections of each section that has some, in the order of the book."""
    result: dict[str, tuple[Correction, ...]] = {}
    for one in sorted(every(), key=lambda one: tuple(map(int, one.section.split(".")))):
        result[one.section] = (*result.get(one.section, ()), one)
    return result


def anchor(section: str, number: int = 0) -> str:
    """The id of a section of the page, or of the correction at ``number`` in it, counted from 1."""
    return f"disagree-{section.replace('.', '-')}" + (f"-{number}" if number else "")


def entry(correction: Correction, number: int) -> str:
    """One correction: the claim, where it is printed, what is right, why, what it does to a plan, and the source."""
    parts = [
        (correction.printed, inline(correction.claim)),
        ("In", "; ".join(map(inline, correction.places))),
        ("Instead", inline(correction.right)),
        ("Why", inline(correction.because)),
        ("Effect", inline(correction.matters)),
        ("Source", inline(correction.source)),
    ]
    return f'<div class="rz-correction" id="{anchor(correction.section, number)}">\n{records(parts)}\n</div>\n'


def _section(section: str, found: tuple[Correction, ...]) -> str:
    entries = "".join(entry(correction, number) for number, correction in enumerate(found, 1))
    back = f'<p class="rz-back">{section_link(section, f"Read section {section}")}</p>'
    return f"({anchor(section)})=\n### {title(section)}\n\n{back}\n\n{entries}"


def text() -> str:
    """The page's generated part."""
    groups = by_section()
    parts = [f"{len(every())} corrections in {len(groups)} sections.\n"]
    for chapter in CHAPTERS:
        mine = {section: found for section, found in groups.items() if chapter_of(section) == chapter}
        if mine:
            parts.append(f"## {chapter.number}. {chapter.title}\n")
            parts += [_section(section, found) for section, found in mine.items()]
    return "\n".join(parts)

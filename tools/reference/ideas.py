"""The map of ideas on the opening page: a row for each chapter, a box for each idea, a line to each that it rests on.

The boxes are links. Whoever points at one, or reaches it by key, sees its own lines alone. It is drawn as SVG with the
colours of the page, so that it follows the reader's light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rankzero.facts.chapters import CHAPTERS
from rankzero.facts.ideas import IDEAS, Idea

from .markup import address, title

#: Sizes in the units of the drawing, which are pixels at full width.
WIDTH, MARGIN = 800, 34
ROW, HEIGHT = 52, 28
LETTER, PADDING = 6.7, 9  # of a letter of 13 px, and at each side of a name


@dataclass(frozen=True)
class Box:
    """An idea in its place: the middle of the box, and its width."""

    idea: Idea
    x: float
    y: float

    @property
    def width(self) -> float:
        """Wide enough for the name."""
        return LETTER * len(self.idea.name) + 2 * PADDING


def boxes(ideas: Sequence[Idea] = IDEAS) -> dict[str, Box]:
    """Each idea's box, by name: those of a chapter in a row, with equal gaps."""
    found: dict[str, Box] = {}
    for row, chapter in enumerate(sorted({idea.chapter for idea in ideas})):
        mine = [idea for idea in ideas if idea.chapter == chapter]
        y = ROW * (row + 0.5)
        widths = [Box(idea, 0, 0).width for idea in mine]
        gap = (WIDTH - MARGIN - sum(widths)) / (len(mine) + 1)
        x = MARGIN + gap
        for idea, width in zip(mine, widths, strict=True):
            found[idea.name] = Box(idea, x + width / 2, y)
            x += width + gap
    return found


def _line(lower: Box, upper: Box) -> str:
    """A curve from an idea up to one that it rests on; within a row, from side to side."""
    if lower.y == upper.y:
        ends = sorted((lower, upper), key=lambda box: box.x)
        start, end = ends[0].x + ends[0].width / 2, ends[1].x - ends[1].width / 2
        return f"M{start:.1f} {lower.y:.1f}H{end:.1f}"
    top, bottom = upper.y + HEIGHT / 2, lower.y - HEIGHT / 2
    bend = (bottom - top) / 2
    return (
        f"M{upper.x:.1f} {top:.1f}C{upper.x:.1f} {top + bend:.1f} {lower.x:.1f} {bottom - bend:.1f}"
        f" {lower.x:.1f} {bottom:.1f}"
    )


def _lines(found: dict[str, Box]) -> str:
    number = {name: place for place, name in enumerate(found)}
    paths = (
        f'<path class="rz-i{number[name]} rz-i{number[need]}" d="{_line(box, found[need])}"/>'
        for name, box in found.items()
        for need in box.idea.needs
    )
    return "".join(paths)


def _box(place: int, box: Box) -> str:
    section = box.idea.section
    said = f"{box.idea.name}: section {title(section)}"
    left, top = box.x - box.width / 2, box.y - HEIGHT / 2
    return (
        f'<a class="rz-i{place}" href="{address(section)}" aria-label="{escape(said)}">'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{HEIGHT}" rx="5"/>'
        f'<text x="{box.x:.1f}" y="{box.y + 4.5:.1f}">{escape(box.idea.name)}</text></a>'
    )


def _chapters(found: dict[str, Box]) -> str:
    rows = {box.idea.chapter: box.y for box in found.values()}
    return "".join(
        f'<text class="rz-chapter" x="{MARGIN / 2}" y="{y + 4.5:.1f}">{number}</text>' for number, y in rows.items()
    )


def _style(count: int) -> str:
    """Rules that leave only the lines of the idea that somebody points at."""
    at = [f".rz-ideas:has(a.rz-i{place}:is(:hover, :focus-visible)) path" for place in range(count)]
    quiet = "".join(f"{one}:not(.rz-i{place}){{opacity:.12}}" for place, one in enumerate(at))
    loud = "".join(f"{one}.rz-i{place}{{stroke:var(--pst-color-primary)}}" for place, one in enumerate(at))
    return f"<style>{quiet}{loud}</style>"


def text() -> str:
    """The map, as HTML."""
    found = boxes()
    height = ROW * len(CHAPTERS)
    links = "".join(_box(place, box) for place, box in enumerate(found.values()))
    return (
        f'<div class="rz-ideas">{_style(len(found))}'
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="group"'
        ' aria-label="A map of the ideas of the course, a row for each chapter">'
        f"{_chapters(found)}{_lines(found)}{links}</svg></div>\n"
    )

"""The map of ideas on the opening page: a row for each chapter, a box for each idea, a line to each that it rests on.

The boxes are links. Whoever points at one, or reaches it by key, sees its own lines alone. It is drawn as SVG with the
colours of the page, so that it follows the reader's light or dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from rankzero.facts.ideas import IDEAS, Idea
from rankzero.room import COLUMN

from .markup import address, title

#: Sizes in the units of the drawing, which are pixels at full width.
WIDTH, PHONE, MARGIN = 800, COLUMN, 34
ROW, HEIGHT = 52, 28
GAP = 8  # the least between two boxes of a row
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


def rows(ideas: Sequence[Idea], width: float) -> list[list[Idea]]:
    """The ideas of each chapter, in as many rows as they need."""
    found: list[list[Idea]] = []
    for idea in sorted(ideas, key=lambda idea: idea.chapter):
        row = found[-1] if found else []
        needed = sum(Box(one, 0, 0).width + GAP for one in (*row, idea)) + GAP
        if row and row[0].chapter == idea.chapter and needed <= width - MARGIN:
            row.append(idea)
        else:
            found.append([idea])
    return found


def boxes(ideas: Sequence[Idea] = IDEAS, width: float = WIDTH) -> dict[str, Box]:
    """Each idea's box, by name: those of a row have equal gaps."""
    found: dict[str, Box] = {}
    for row, mine in enumerate(rows(ideas, width)):
        y = ROW * (row + 0.5)
        widths = [Box(idea, 0, 0).width for idea in mine]
        gap = (width - MARGIN - sum(widths)) / (len(mine) + 1)
        x = MARGIN + gap
        for idea, wide in zip(mine, widths, strict=True):
            found[idea.name] = Box(idea, x + wide / 2, y)
            x += wide + gap
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
    tops = {box.idea.chapter: box.y for box in reversed(found.values())}
    return "".join(
        f'<text class="rz-chapter" x="{MARGIN / 2}" y="{y + 4.5:.1f}">{number}</text>'
        for number, y in sorted(tops.items())
    )


def _style(count: int) -> str:
    """Rules that leave only the lines of the idea that somebody points at."""
    at = [f".rz-ideas:has(a.rz-i{place}:is(:hover, :focus-visible)) path" for place in range(count)]
    quiet = "".join(f"{one}:not(.rz-i{place}){{opacity:.12}}" for place, one in enumerate(at))
    loud = "".join(f"{one}.rz-i{place}{{stroke:var(--pst-color-primary)}}" for place, one in enumerate(at))
    return f"<style>{quiet}{loud}</style>"


def _drawing(width: float, more: str) -> str:
    found = boxes(width=width)
    height = ROW * len({box.y for box in found.values()})
    links = "".join(_box(place, box) for place, box in enumerate(found.values()))
    return (
        f'<svg {more} viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group"'
        ' aria-label="A map of the ideas of the course, a row for each chapter">'
        f"{_chapters(found)}{_lines(found)}{links}</svg>"
    )


def text() -> str:
    """The map, as HTML, and the one that a phone shows."""
    drawings = _drawing(WIDTH, 'class="rz-wide"') + _drawing(PHONE, 'class="rz-phone" style="display:none"')
    return f'<div class="rz-ideas">{_style(len(boxes()))}{drawings}</div>\n'

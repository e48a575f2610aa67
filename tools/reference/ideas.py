"""The map of ideas on the opening page: a row for each chapter, a box for each idea, a line to each that it rests on.

Lines run around the boxes of the rows between. Boxes are links. Whoever points at one, or reaches it by key, sees its
own lines alone. It is drawn as SVG with the colours of the page, so that it follows the reader's light or dark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from rankzero.facts.ideas import IDEAS, Idea
from rankzero.room import COLUMN

from .markup import address, title

#: Sizes in the units of the drawing, which are pixels at full width.
WIDTH, PHONE, MARGIN = 800, COLUMN, 34
ROW, HEIGHT = 52, 28
GAP = 8  # the least between two boxes of a row
LETTER, PADDING = 6.7, 9  # of a letter of 13 px, and at each side of a name
NEAR, APART = 5, 7  # the least between a line and a box, and between two lines in a gap
BELOW = 8  # from a box to a line that runs below it


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
    result: list[list[Idea]] = []
    for idea in sorted(ideas, key=lambda idea: idea.chapter):
        row = result[-1] if result else []
        needed = sum(Box(one, 0, 0).width + GAP for one in (*row, idea)) + GAP
        if row and row[0].chapter == idea.chapter and needed <= width - MARGIN:
            row.append(idea)
        else:
            result.append([idea])
    return result


def boxes(ideas: Sequence[Idea] = IDEAS, width: float = WIDTH) -> dict[str, Box]:
    """Each idea's box, by name: those of a row have equal gaps."""
    result: dict[str, Box] = {}
    for row, mine in enumerate(rows(ideas, width)):
        y = ROW * (row + 0.5)
        widths = [Box(idea, 0, 0).width for idea in mine]
        gap = (width - MARGIN - sum(widths)) / (len(mine) + 1)
        x = MARGIN + gap
        for idea, wide in zip(mine, widths, strict=True):
            result[idea.name] = Box(idea, x + wide / 2, y)
            x += wide + gap
    return result


@dataclass(frozen=True)
class Line:
    """A line up from an idea to one that it rests on: where it crosses the rows between, the lower first, or within
    a row, whether it runs below the boxes between the two."""

    lower: Box
    upper: Box
    through: tuple[tuple[float, float], ...] = ()
    below: bool = False


def ends(line: Line) -> tuple[float, float]:
    """Where a line begins and ends, from left to right on the map."""
    return line.lower.x, line.upper.x


def gaps(row: Sequence[Box], width: float = WIDTH) -> list[tuple[float, float]]:
    """The free stretches of a row, from left to right: beside its boxes and between them."""
    sides = [MARGIN, *(side for box in row for side in (box.x - box.width / 2, box.x + box.width / 2)), float(width)]
    return list(zip(sides[::2], sides[1::2], strict=True))


def crossings(start: float, end: float, rows: Sequence[Sequence[tuple[float, float]]]) -> list[tuple[int, float]]:
    """In which gap and where a line from ``start`` to ``end`` crosses each of ``rows``, given by their gaps, so that it
    turns least: the sum of the squares of its moves to the side is the smallest."""
    paths = [(0.0, start, list[tuple[int, float]]())]
    for number, row in enumerate(rows):
        share = 1 / (len(rows) + 1 - number)
        found = []
        for index, (left, right) in enumerate(row):
            options = []
            for cost, x, path in paths:
                to = min(max(x + (end - x) * share, left + NEAR), right - NEAR)
                options.append((cost + (to - x) ** 2, to, [*path, (index, to)]))
            found.append(min(options))
        paths = found
    return min((cost + (end - x) ** 2, path) for cost, x, path in paths)[1]


def lines(found: Mapping[str, Box], width: float = WIDTH) -> list[Line]:
    """The lines of the map. Those that cross a row in the same gap stand side by side in it."""
    rows: dict[float, list[Box]] = {}  # by their heights
    for box in found.values():
        rows.setdefault(box.y, []).append(box)
    free = {y: gaps(row, width) for y, row in rows.items()}
    plain = [Line(box, found[need]) for box in found.values() for need in box.idea.needs]
    ways = []
    for line in plain:
        between = sorted((y for y in rows if line.upper.y < y < line.lower.y), reverse=True)
        places = crossings(line.lower.x, line.upper.x, [free[y] for y in between])
        ways.append(dict(zip(between, places, strict=True)))
    users: dict[tuple[float, int], list[tuple[float, int]]] = {}
    for number, way in enumerate(ways):
        for y, (index, x) in way.items():
            users.setdefault((y, index), []).append((x, number))
    at = {}
    for (y, index), wanted in users.items():
        for x, (_, number) in zip(apart(wanted, free[y][index]), sorted(wanted), strict=True):
            at[y, number] = x
    return [
        replace(
            line,
            through=tuple((at[y, number], y) for y in way),
            below=line.lower.y == line.upper.y
            and any(min(ends(line)) < box.x < max(ends(line)) for box in rows[line.lower.y]),
        )
        for number, (line, way) in enumerate(zip(plain, ways, strict=True))
    ]


def apart(wanted: Sequence[tuple[float, int]], gap: tuple[float, float]) -> list[float]:
    """Places in a gap, from left to right, for lines that want to cross it there: at least a step from each other."""
    left, right = gap
    step = min(APART, (right - left) / (len(wanted) + 1))
    places: list[float] = []
    for number, (x, _) in enumerate(sorted(wanted)):
        least = places[-1] + step if places else left + min(NEAR, step)
        most = right - min(NEAR, step) - step * (len(wanted) - 1 - number)
        places.append(min(max(x, least), most))
    return places


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    """A curve that leaves and arrives upright."""
    middle = (y + to_y) / 2
    return f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"


def _path(line: Line) -> str:
    """A line as a path, from its lower end to its upper one; within a row, from side to side."""
    lower, upper = line.lower, line.upper
    half = HEIGHT / 2
    left, right = sorted((lower, upper), key=lambda box: box.x)
    if line.below:
        start, y = lower.y + half, lower.y + half + BELOW
        corners = (left.x + 2 * BELOW, right.x - 2 * BELOW)
        return (
            f"M{left.x:.1f} {start:.1f}C{left.x:.1f} {y:.1f} {left.x:.1f} {y:.1f} {corners[0]:.1f} {y:.1f}"
            f"H{corners[1]:.1f}C{right.x:.1f} {y:.1f} {right.x:.1f} {y:.1f} {right.x:.1f} {start:.1f}"
        )
    if lower.y == upper.y:
        return f"M{left.x + left.width / 2:.1f} {lower.y:.1f}H{right.x - right.width / 2:.1f}"
    x, y = lower.x, lower.y - half
    path = f"M{x:.1f} {y:.1f}"
    for to_x, row in line.through:
        path += f"{_bend(x, y, to_x, row + half)}V{row - half:.1f}"
        x, y = to_x, row - half
    return path + _bend(x, y, upper.x, upper.y + half)


def _lines(found: Mapping[str, Box], width: float) -> str:
    number = {name: index for index, name in enumerate(found)}
    return "".join(
        f'<path class="rz-i{number[line.lower.idea.name]} rz-i{number[line.upper.idea.name]}" d="{_path(line)}"/>'
        for line in lines(found, width)
    )


def _box(index: int, box: Box) -> str:
    section = box.idea.section
    said = f"{box.idea.name}: section {title(section)}"
    left, top = box.x - box.width / 2, box.y - HEIGHT / 2
    return (
        f'<a class="rz-i{index}" href="{address(section)}" aria-label="{escape(said)}">'
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
    at = [f".rz-ideas:has(a.rz-i{index}:is(:hover, :focus-visible)) path" for index in range(count)]
    quiet = "".join(f"{one}:not(.rz-i{index}){{opacity:.12}}" for index, one in enumerate(at))
    loud = "".join(f"{one}.rz-i{index}{{stroke:var(--pst-color-primary)}}" for index, one in enumerate(at))
    return f"<style>{quiet}{loud}</style>"


def _drawing(width: float, more: str) -> str:
    found = boxes(width=width)
    height = ROW * len({box.y for box in found.values()})
    links = "".join(_box(index, box) for index, box in enumerate(found.values()))
    return (
        f'<svg {more} viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group"'
        ' aria-label="A map of the ideas of the course, a row for each chapter">'
        f"{_chapters(found)}{_lines(found, width)}{links}</svg>"
    )


def text() -> str:
    """The map, as HTML, and the one that a phone shows."""
    drawings = _drawing(WIDTH, 'class="rz-wide"') + _drawing(PHONE, 'class="rz-phone" style="display:none"')
    return f'<div class="rz-ideas">{_style(len(boxes()))}{drawings}</div>\n'

"""Placing the labels of a plot so that they hide neither each other nor what they name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from rankzero.figures.picture import Picture

SIZE = 8.0  # font size of a label, points
GAP = 7.0  # distance between a point and its label, points


@dataclass(frozen=True)
class Box:
    """A rectangle, in points (1/72 inch) from the left and the bottom edge of the picture."""

    left: float
    foot: float
    right: float
    top: float

    def shared(self, other: Box) -> float:
        """The area of the overlap."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.foot, other.foot)
        return max(0.0, wide) * max(0.0, high)

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.top - self.foot)


def _extent(text: str) -> tuple[float, float]:
    """Width and height of a label, points."""
    box = TextPath((0, 0), text or " ", size=SIZE, prop=FontProperties(family="DejaVu Sans")).get_extents()
    return float(box.width), SIZE


def _spot(picture: Picture, axes: Axes, point: tuple[float, float]) -> tuple[float, float]:
    """Where a point of the data is in the picture, in points (1/72 inch)."""
    x, y = axes.transData.transform(point)
    return 72 * float(x) / picture.dpi, 72 * float(y) / picture.dpi


def _frame(picture: Picture, axes: Axes) -> Box:
    box = axes.get_window_extent()
    return Box(*(72 * float(value) / picture.dpi for value in (box.x0, box.y0, box.x1, box.y1)))


def over_rules(picture: Picture, axes: Axes, rules: Mapping[str, float]) -> None:
    """Draw labels above vertical rules; a label that would touch another is drawn one line higher."""
    picture.draw_without_rendering()
    ends: list[float] = []
    for text, x in sorted(rules.items(), key=lambda rule: rule[1]):
        middle, half = _spot(picture, axes, (x, axes.get_ylim()[0]))[0], _extent(text)[0] / 2
        level = next((i for i, end in enumerate(ends) if end < middle - half - 4), len(ends))
        ends[level : level + 1] = [middle + half]
        where: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": SIZE}
        axes.annotate(text, (x, 1), xytext=(0, 3 + 11 * level), ha="center", va="bottom", **where)


def on_lines(
    picture: Picture,
    axes: Axes,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    points: Sequence[tuple[float, float]],
) -> list[Box]:
    """Draw labels along lines, near their right ends and away from points; return what labels and lines cover."""
    picture.draw_without_rendering()
    picture.set_layout_engine("none")  # from here on, nothing may move
    frame, taken = _frame(picture, axes), [_dot(*_spot(picture, axes, point)) for point in points]
    covered: list[Box] = []
    for text, line in lines.items():
        trail = [spot for spot in _trail([_spot(picture, axes, point) for point in line]) if _inside(frame, spot)]
        covered += [Box(x - 1, y - 1, x + 1, y + 1) for x, y in trail]
        if len(trail) > 1:
            taken += _along(axes, text, trail, taken)
    return [*taken[len(points) :], *covered]


def _along(axes: Axes, text: str, trail: Sequence[tuple[float, float]], taken: Sequence[Box]) -> list[Box]:
    """Draw a label over a line, at the first free place from its end; return the boxes that it covers."""
    width, height = _extent(text)
    best: tuple[float, int, list[Box]] | None = None
    for stop in range(len(trail) - 3, 1, -4):
        x, y = trail[stop]
        before = max((i for i in range(stop) if math.dist(trail[i], (x, y)) >= width), default=None)
        if before is None:
            break
        boxes = [Box(px - 4, py, px + 4, py + height + 4) for px, py in trail[before:stop:2]]
        cost = sum(box.shared(other) for box in boxes for other in taken)
        if best is None or cost < best[0]:
            best = cost, stop, boxes
        if not cost:
            break
    if best is None:
        return []
    _, stop, boxes = best
    (x0, y0), (x1, y1) = trail[max(0, stop - 12)], trail[stop]
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    frame: dict[str, Any] = {
        "xycoords": "figure points",
        "rotation": angle,
        "rotation_mode": "anchor",
        "fontsize": SIZE,
    }
    axes.annotate(text, (x1, y1), xytext=(0, 2), textcoords="offset points", ha="right", va="bottom", **frame)
    return boxes


def _trail(spots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Places along a line from left to right, about three points apart."""
    found: list[tuple[float, float]] = []
    ordered = sorted(spots)
    for (x, y), (x2, y2) in itertools.pairwise(ordered):
        steps = max(1, round(math.dist((x, y), (x2, y2)) / 3))
        found += [(x + (x2 - x) * i / steps, y + (y2 - y) * i / steps) for i in range(steps)]
    return found + ordered[-1:]


def _inside(frame: Box, spot: tuple[float, float]) -> bool:
    return frame.left <= spot[0] <= frame.right and frame.foot <= spot[1] <= frame.top


def _dot(x: float, y: float) -> Box:
    return Box(x - 5, y - 5, x + 5, y + 5)


def beside_points(
    picture: Picture, axes: Axes, points: Mapping[str, tuple[float, float]], taken: Sequence[Box]
) -> None:
    """Draw labels beside points, each on the side where it covers least."""
    frame = _frame(picture, axes)
    spots = {name: _spot(picture, axes, point) for name, point in points.items()}
    placed = [_dot(*spot) for spot in spots.values()]
    for name, (x, y) in spots.items():
        width, height = _extent(name)
        sides = [(GAP, -height / 2), (-GAP - width, -height / 2), (-width / 2, GAP), (-width / 2, -GAP - height)]
        sides += [(GAP - 3, GAP - 3), (-width - 4, GAP - 3), (GAP - 3, -height - 4), (-width - 4, -height - 4)]
        boxes = [Box(x + dx, y + dy, x + dx + width, y + dy + height) for dx, dy in sides]
        best = min(boxes, key=lambda box: _cost(box, placed, taken, frame))
        placed.append(best)
        axes.annotate(name, (best.left, best.foot + 1.5), xycoords="figure points", fontsize=SIZE, va="bottom")


def _cost(box: Box, placed: Sequence[Box], taken: Sequence[Box], frame: Box) -> float:
    """The cost of a place: hiding a point or a label costs most, leaving the frame less, covering a line least."""
    hidden = sum(box.shared(other) for other in placed)
    outside = box.area - box.shared(frame)
    return 100 * hidden + 20 * outside + sum(box.shared(other) for other in taken)

"""Plots of numbers as charts: curves with measured points, and bars, as :mod:`rankzero.figures.plots` draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import get_args

from rankzero import checks
from rankzero.charts.marks import COLOURS, Axis, Spec, colour_of, distinct
from rankzero.charts.pictures.picture import Picture, finite, named, numeric, ranged
from rankzero.charts.ticks import LogAxes, short
from rankzero.charts.vega_lite import lines
from rankzero.room import room

Points = Sequence[tuple[float, float]]

#: Shapes of points, so that they can be told apart without colour.
SHAPES = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "cross",
    "triangle-right",
    "triangle-left",
)


def curves(
    curves: Mapping[str, Points],
    points: Mapping[str, Points] | None = None,
    *,
    x: str,
    y: str,
    log: LogAxes = "",
    rules: Mapping[str, float] | None = None,
    alt: str,
) -> Picture:
    """Curves and points as a chart; :func:`rankzero.figures.plots.curves` says what the arguments mean."""
    checks.one_of(get_args(LogAxes), log=log)
    points, rules = points or {}, rules or {}
    every = [*chain(*curves.values(), *points.values())]
    across = numeric("x", x, [*(px for px, _ in every), *rules.values()], "x" in log)
    up = numeric("y", y, [py for _, py in every], "y" in log)
    dots = _rows(points)
    view = lines(_rows(curves), across, up, by="name", points=dots)
    if dots:
        view["layer"][-1]["encoding"]["shape"] = _shapes(dict.fromkeys([*curves, *points]), view["layer"][-1])
        view["resolve"]["scale"]["shape"] = "independent"
    view["layer"] += _rules(rules, across)
    return Picture(view, alt)


def _rows(named: Mapping[str, Points]) -> list[Spec]:
    return [{"name": name, "x": finite(px), "y": finite(py)} for name, line in named.items() for px, py in line]


def _shapes(names: Iterable[str], layer: Spec) -> Spec:
    """The encoding that gives each name a shape, with the same legend as the colours of the layer."""
    kinds = [*names]
    scale = {"domain": kinds, "range": [SHAPES[index % len(SHAPES)] for index in range(len(kinds))]}
    legend = layer["encoding"]["fill"]["legend"]
    return {"field": "name", "type": "nominal", "title": None, "scale": scale, "legend": legend}


def _rules(rules: Mapping[str, float], x: Axis) -> list[Spec]:
    """Vertical lines with their labels on top."""
    data = {"values": [{"rule": name, "x": value} for name, value in rules.items()]}
    line = {"type": "rule", "strokeDash": [4, 4], "color": "currentColor"}
    text = {"type": "text", "color": "currentColor", "dy": -6}
    place: Spec = {"x": x.channel()}
    label = place | {"y": {"value": 0}, "text": {"field": "rule"}}
    drawn = ({"data": data, "mark": line, "encoding": place}, {"data": data, "mark": text, "encoding": label})
    return [*drawn] if rules else []


@dataclass(frozen=True)
class Bar:
    """One bar of a plot.

    Attributes:
        group, part: the names that it stands for.
        middle: its middle on the axis of groups, on which group ``i`` is at ``i``.
        width: its width on that axis.
        foot: where it begins on the axis of values.
        value: its length.
        colour: the colour of its part.
    """

    group: str
    part: str
    middle: float
    width: float
    foot: float
    value: float
    colour: str


def laid(groups: Mapping[str, Mapping[str, float]], stacked: bool) -> list[Bar]:
    """The bars of groups, group by group: on each other or side by side."""
    parts = parts_of(groups)
    result = []
    for row, (name, group) in enumerate(groups.items()):
        width = 0.62 if stacked else 0.8 / max(1, len(group))
        foot = 0.0
        for index, (part, value) in enumerate(group.items()):
            middle = row if stacked else row + (index - (len(group) - 1) / 2) * width
            colour = COLOURS[parts.index(part) % len(COLOURS)]
            result.append(Bar(name, part, middle, 0.92 * width, foot if stacked else 0.0, value, colour))
            foot += value
    return result


def parts_of(groups: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The names of the parts of groups, in order of appearance."""
    return list(dict.fromkeys(part for group in groups.values() for part in group))


def lying(groups: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether bars are horizontal: the names of the groups need the room."""
    return max(len(groups), sum(len(name) + 2 for name in groups) / 8) > room(8, 4)


def log_foot(values: Sequence[float]) -> float | None:
    """Where a logarithmic axis of bars begins, with room for the shortest one; None if a value is not positive."""
    return 10.0 ** math.floor(math.log10(min(values) / 1.5)) if min(values) > 0 else None


def bars(
    groups: Mapping[str, Mapping[str, float]], *, y: str, stacked: bool = False, log: bool = False, alt: str
) -> Picture:
    """Bars in groups as a chart; :func:`rankzero.figures.plots.bars` says what the arguments mean."""
    checks.require(not (stacked and log), "be False for stacked bars, whose parts would have no honest length", log=log)
    flat, every = lying(groups), laid(groups, stacked)
    values = _values(y, every, flat, log)
    names = _names([*groups], flat)
    low = values.settings["scale"]["domain"][0] if log else 0.0
    rows = [_row(bar, low, not stacked) for bar in every]
    along, across = ("x", "y") if flat else ("y", "x")
    span = {along: values.channel(), f"{along}2": {"field": "foot"}}
    sides = {across: names.channel(), f"{across}2": {"field": "side2"}}
    many = len(distinct(rows, "part")) > 1
    colour = colour_of("part", parts_of(groups)) | ({} if many else {"legend": None})
    told = {"tooltip": [{"field": "group", "title": " "}, {"field": "part", "title": " "}, values.hover()]}
    text = {"type": "text", "color": "currentColor", **({"align": "left", "dx": 4} if flat else {"dy": -7})}
    middle = names.channel(field="middle")
    layers: list[Spec] = [{"mark": "rect", "encoding": span | sides | told | {"color": colour}}]
    if not stacked:
        label = {along: values.channel(), across: middle, "text": {"field": "text"}}
        layers.append({"mark": text, "encoding": label})
    lanes = len(groups) if stacked else len(every)
    size = (room(420, 190), 20 * lanes + 12 * len(groups)) if flat else (room(460, 270), 220)
    return Picture({"title": "", "width": size[0], "height": size[1], "data": {"values": rows}, "layer": layers}, alt)


def _row(bar: Bar, low: float, written: bool) -> Spec:
    """The data of a bar; its foot is at least ``low``, where the axis begins."""
    sides = {"side": bar.middle - bar.width / 2, "side2": bar.middle + bar.width / 2, "middle": bar.middle}
    ends = {"foot": finite(max(low, bar.foot)), "end": finite(bar.foot + bar.value), "value": finite(bar.value)}
    return {"group": bar.group, "part": bar.part, "text": short(bar.value) if written else ""} | sides | ends


def _values(title: str, every: Sequence[Bar], flat: bool, log: bool) -> Axis:
    """The axis of values, with room for the labels at the ends of bars."""
    ends = [bar.foot + bar.value for bar in every]
    if log:
        foot = log_foot(ends)
        return numeric("end", title, [*([foot] if foot else []), *ends], log, foot)
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = (0.12 if flat else 0.05) * (high - low) or 0.05
    return ranged("end", title, (low - room * (low < 0), high + room * (high > 0)))


def _names(names: Sequence[str], flat: bool) -> Axis:
    """The axis of groups."""
    ends = (-0.5, len(names) - 0.5) if flat else (-0.6, len(names) - 0.4)
    return named("side", "", names, ends, down=flat)

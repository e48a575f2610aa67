"""Plots of numbers: curves with measured points, labeled points over lines, bars, and triangles of three shares.

Every function returns a :class:`~rankzero.figures.picture.Picture`. The caller supplies ``alt``, one sentence that says
what the plot shows, with the numbers that matter. Axis labels include the unit. ``log`` names the logarithmic axes:
``""``, ``"x"``, ``"y"`` or ``"xy"``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, get_args

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

from rankzero import checks
from rankzero.charts.marks import COLOURS, dash
from rankzero.charts.pictures.plots import Bar, Points, laid, log_foot, lying, parts_of
from rankzero.charts.ticks import LogAxes, log_ticks, short
from rankzero.figures.label_placement import beside_points, on_lines, over_rules
from rankzero.figures.picture import INK, Picture, canvas, key, on_circle, panels, styled
from rankzero.room import room

#: Shapes of points, so that they can be told apart without colour.
SHAPES = "osD^vPX*"

Style = dict[str, Any]
GRID: Style = {"color": "#888888", "alpha": 0.3, "linewidth": 0.6}


@styled
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
    """Curves, typically from a formula, and points, typically measured.

    Args:
        curves: by name, the points to draw a line through.
        points: by name, the points to mark, in the colour of the curve of the same name.
        x: label of the horizontal axis, with its unit.
        y: label of the vertical axis, with its unit.
        log: the logarithmic axes.
        rules: vertical lines, by their labels.
        alt: one sentence that says what the plot shows.

    Raises:
        ValueError: ``log`` is not one of the four, or a number on a logarithmic axis is not positive.
    """
    points, rules = points or {}, rules or {}
    every = [*chain(*curves.values(), *points.values())]
    picture, (axes,) = panels(1, 1, (5.8, 3.6))
    names = dict.fromkeys([*curves, *points])
    for index, name in enumerate(names):
        colour, shape = COLOURS[index % len(COLOURS)], SHAPES[index % len(SHAPES)]
        if name in curves:
            axes.plot(*_columns(curves[name]), color=colour, linewidth=2, linestyle=_dashes(index))
        if name in points:
            dots: Style = {"color": colour, "marker": shape, "markeredgecolor": INK, "markeredgewidth": 0.6}
            axes.plot(*_columns(points[name]), linestyle="none", markersize=6, zorder=3, **dots)
    _axes(axes, every, x, y, log)
    for value in rules.values():
        axes.axvline(value, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    key(picture, [_handle(name, index, name in curves, name in points) for index, name in enumerate(names)])
    over_rules(picture, axes, rules)
    picture.alt = alt
    return picture


@styled
def labelled(
    points: Mapping[str, tuple[float, float]],
    lines: Mapping[str, Points] | None = None,
    *,
    x: str,
    y: str,
    log: LogAxes = "",
    alt: str,
    dashed: Mapping[str, Points] | None = None,
) -> Picture:
    """Points with their names beside them, over thin lines with their names on them.

    Args:
        points: the points, by name.
        lines: solid lines, by name; the names are drawn near their ends.
        x: label of the horizontal axis, with its unit.
        y: label of the vertical axis, with its unit.
        log: the logarithmic axes.
        alt: one sentence that says what the plot shows.
        dashed: dashed lines, by name.

    Raises:
        ValueError: ``log`` is not one of the four, or a number on a logarithmic axis is not positive.
    """
    lines, dashed = lines or {}, dashed or {}
    picture, (axes,) = panels(1, 1, (5.8, 4.2))
    for named, style in ((lines, "solid"), (dashed, (0, (4, 3)))):
        for line in named.values():
            axes.plot(*_columns(line), color="#888888", linewidth=1, linestyle=style, zorder=1)
    dots: Style = {"color": COLOURS[0], "marker": "o", "markeredgecolor": INK, "markeredgewidth": 0.6}
    axes.plot(*_columns(points.values()), linestyle="none", markersize=7, zorder=3, **dots)
    _axes(axes, [*points.values(), *chain(*lines.values(), *dashed.values())], x, y, log)
    taken = on_lines(picture, axes, {**lines, **dashed}, [*points.values()])
    beside_points(picture, axes, points, taken)
    picture.alt = alt
    return picture


@styled
def bars(
    groups: Mapping[str, Mapping[str, float]], *, y: str, stacked: bool = False, log: bool = False, alt: str
) -> Picture:
    """Bars in groups, side by side or stacked. They are horizontal if the names of the groups need the room.

    Args:
        groups: values by the names of group and part; a part has the same colour in all groups, and may be missing.
        y: label of the axis of values, with its unit.
        stacked: whether a group is a single bar, with the first part at its foot.
        log: whether the axis is logarithmic; not for stacked bars.
        alt: one sentence that says what the plot shows.

    Raises:
        ValueError: ``stacked`` with ``log``, or a value on a logarithmic axis is not positive.
    """
    checks.require(not (stacked and log), "be False for stacked bars, whose parts would have no honest length", log=log)
    flat, parts, every = lying(groups), parts_of(groups), laid(groups, stacked)
    lanes = len(groups) if stacked else len(every)
    least = room(0.0, 0.06 + 0.16 * max((_in_lines(name).count("\n") + 1 for name in groups), default=1))
    high = 1.2 + max(0.2 * lanes + 0.12 * len(groups), least * len(groups))
    picture, (axes,) = panels(1, 1, (5.8, high if flat else 3.2))
    for bar in every:
        _bar(axes, bar, stacked, flat)
    values = [sum(group.values()) for group in groups.values()] if stacked else [bar.value for bar in every]
    foot = [found] if log and (found := log_foot(values)) else []
    _scale(axes, "x" if flat else "y", foot + values, log)
    if foot:
        axes.set(**{"xlim" if flat else "ylim": (foot[0], None)})
    _names(axes, list(groups), y, flat)
    if len(parts) > 1:
        key(picture, [Patch(facecolor=COLOURS[i % len(COLOURS)], label=part) for i, part in enumerate(parts)])
    picture.alt = alt
    return picture


@styled
def triangle(ways: Mapping[str, tuple[float, float, float]], corners: tuple[str, str, str], *, alt: str) -> Picture:
    """How near different ways come to the best in three respects: each way is a triangle inside the largest one.

    Args:
        ways: by name, a way's share of the best in each of the three respects, from 0, the middle, to 1, the corner.
        corners: the names of the respects, clockwise from the top.
        alt: one sentence that says what the plot shows.

    Raises:
        ValueError: a share is not from 0 to 1.
    """
    for shares in ways.values():
        checks.between(0, 1, share=list(shares))
    picture, axes = canvas((4.6, 2.9 + 0.2 * len(ways)))
    axes.set(xlim=(-1.5, 1.5), ylim=(-0.72, 1.2))
    places = on_circle(3)
    for part in (0.5, 1.0):
        axes.add_patch(Polygon([(part * x, part * y) for x, y in places], fill=False, **GRID))
    for name, (x, y) in zip(corners, places, strict=True):
        axes.plot([0, x], [0, y], **GRID)
        axes.text(1.08 * x, 1.08 * y, name, ha="center", va="bottom" if y > 0 else "top")
    for index, shares in enumerate(ways.values()):
        drawn = [(share * x, share * y) for share, (x, y) in zip(shares, places, strict=True)]
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(*_columns([*drawn, drawn[0]]), color=colour, linewidth=2, linestyle=_dashes(index))
        axes.plot(*_columns(drawn), linestyle="none", color=colour, marker=SHAPES[index % len(SHAPES)], markersize=5)
    key(picture, [_handle(name, index, True, True) for index, name in enumerate(ways)])
    picture.alt = alt
    return picture


def _bar(axes: Axes, bar: Bar, stacked: bool, flat: bool) -> None:
    foot = bar.foot if stacked else None
    if flat:
        axes.barh(bar.middle, bar.value, bar.width, left=foot, color=bar.colour)
    else:
        axes.bar(bar.middle, bar.value, bar.width, bottom=foot, color=bar.colour)
    if not stacked:
        _value(axes, bar.middle, bar.value, flat)


def _value(axes: Axes, middle: float, value: float, flat: bool) -> None:
    """Write the value at the end of its bar."""
    where, way = ((value, middle), (4, 0)) if flat else ((middle, value), (0, 2))
    sides: Style = {"ha": "left", "va": "center"} if flat else {"ha": "center", "va": "bottom"}
    axes.annotate(short(value), where, xytext=way, textcoords="offset points", fontsize=8, **sides)


def _names(axes: Axes, names: Sequence[str], label: str, flat: bool) -> None:
    """Set the ticks of one axis to the groups' names, and the label of the other."""
    if flat:
        axes.set_yticks(range(len(names)), [_in_lines(name) for name in names])
        axes.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
        axes.margins(x=0.12)
    else:
        axes.set_xticks(range(len(names)), names)
        axes.set(ylabel=label, xlim=(-0.6, len(names) - 0.4))
    axes.tick_params(axis="y" if flat else "x", length=0)
    axes.grid(axis="x" if flat else "y", **GRID)
    axes.set_axisbelow(True)


def _in_lines(name: str) -> str:
    """The name of a row; on a phone in lines."""
    together = re.sub(r"(\d) (?=\S{1,2}$)", "\\1\N{NO-BREAK SPACE}", name)  # a number and its unit
    return room(name, textwrap.fill(together, 18))


def _columns(points: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    pairs = list(points)
    return [px for px, _ in pairs], [py for _, py in pairs]


def _dashes(index: int) -> Any:
    """The dashes of the line number ``index`` in Matplotlib's unit, the width of the line."""
    drawn = dash(index)
    return (0, tuple(length / 2 for length in drawn)) if drawn[1] else (0, None)


def _handle(name: str, index: int, line: bool, dots: bool) -> Artist:
    """The legend entry of a name."""
    return Line2D(
        [],
        [],
        color=COLOURS[index % len(COLOURS)],
        linestyle=_dashes(index) if line else "none",
        linewidth=2,
        marker=SHAPES[index % len(SHAPES)] if dots else "",
        markeredgecolor=INK,
        markeredgewidth=0.6,
        label=name,
    )


def _axes(axes: Axes, points: Points, x: str, y: str, log: LogAxes) -> None:
    """Set the labels, scales and grid of both axes."""
    checks.one_of(get_args(LogAxes), log=log)
    axes.set(xlabel=x, ylabel=y)
    _scale(axes, "x", [px for px, _ in points], "x" in log)
    _scale(axes, "y", [py for _, py in points], "y" in log)
    axes.grid(**GRID)
    axes.set_axisbelow(True)


def _scale(axes: Axes, name: Literal["x", "y"], values: Sequence[float], log: bool) -> None:
    """Set readable ticks: 1, 2, 5 and powers of ten with a prefix, or powers of two if all values are."""
    axis: Axis = getattr(axes, f"{name}axis")
    if not log:
        tiny = 1e-9 * max(map(abs, values), default=0.0)
        axis.set_major_formatter(FuncFormatter(lambda value, _: short(value if abs(value) > tiny else 0.0)))
        return
    ticks, labels = log_ticks(values)
    axes.set(**{f"{name}scale": "log"})
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(NullLocator())

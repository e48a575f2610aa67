"""Plots of numbers: curves with measured points, labeled points over lines, bars.

Every function returns a :class:`~rankzero.figures.picture.Picture`. The caller supplies ``alt``, one sentence that says
what the plot shows, with the numbers that matter. Axis labels include the unit. ``log`` names the logarithmic axes:
``""``, ``"x"``, ``"y"`` or ``"xy"``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, get_args

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, NullLocator

from rankzero.charts.marks import COLOURS, dash
from rankzero.figures.label_placement import beside_points, on_lines, over_rules
from rankzero.figures.picture import INK, Picture, key, panels, styled

#: Points of one curve, as ``(x, y)``.
Points = Sequence[tuple[float, float]]

#: The axes that are logarithmic.
LogAxes = Literal["", "x", "y", "xy"]

#: Shapes of points, so that they can be told apart without colour.
SHAPES = "osD^vPX*"

Style = dict[str, Any]
GRID: Style = {"color": "#888888", "alpha": 0.3, "linewidth": 0.6}

_PREFIXES = ("µ", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti")


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
    for place, name in enumerate(names):
        colour, shape = COLOURS[place % len(COLOURS)], SHAPES[place % len(SHAPES)]
        if name in curves:
            axes.plot(*_columns(curves[name]), color=colour, linewidth=2, linestyle=_dashes(place))
        if name in points:
            dots: Style = {"color": colour, "marker": shape, "markeredgecolor": INK, "markeredgewidth": 0.6}
            axes.plot(*_columns(points[name]), linestyle="none", markersize=6, zorder=3, **dots)
    _axes(axes, every, x, y, log)
    for value in rules.values():
        axes.axvline(value, color=INK, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    key(picture, [_handle(name, place, name in curves, name in points) for place, name in enumerate(names)])
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
    if stacked and log:
        raise ValueError("log must be False for stacked bars: their parts would have no honest length")
    lying = max(len(groups), sum(len(name) + 2 for name in groups) / 8) > 8
    parts = list(dict.fromkeys(part for group in groups.values() for part in group))
    lanes = len(groups) if stacked else sum(map(len, groups.values()))
    picture, (axes,) = panels(1, 1, (5.8, 1.2 + 0.2 * lanes + 0.12 * len(groups)) if lying else (5.8, 3.2))
    for row, group in enumerate(groups.values()):
        _group(axes, row, {parts.index(part): value for part, value in group.items()}, stacked, lying)
    values = [sum(group.values()) for group in groups.values()] if stacked else _flat(groups)
    foot = [10.0 ** math.floor(math.log10(min(values) / 1.5))] if log and min(values) > 0 else []
    _scale(axes, "x" if lying else "y", foot + values, log)
    if foot:
        axes.set(**{"xlim" if lying else "ylim": (foot[0], None)})
    _names(axes, list(groups), y, lying)
    if len(parts) > 1:
        key(picture, [Patch(facecolor=COLOURS[i % len(COLOURS)], label=part) for i, part in enumerate(parts)])
    picture.alt = alt
    return picture


def _flat(groups: Mapping[str, Mapping[str, float]]) -> list[float]:
    return [value for group in groups.values() for value in group.values()]


def _group(axes: Axes, row: int, values: Mapping[int, float], stacked: bool, lying: bool) -> None:
    """Draw the bars of the group at ``row``; ``values`` are keyed by the number of the part."""
    width = 0.62 if stacked else 0.8 / max(1, len(values))
    foot = 0.0
    for place, (part, value) in enumerate(values.items()):
        middle = row if stacked else row + (place - (len(values) - 1) / 2) * width
        colour = COLOURS[part % len(COLOURS)]
        if lying:
            axes.barh(middle, value, 0.92 * width, left=foot if stacked else None, color=colour)
        else:
            axes.bar(middle, value, 0.92 * width, bottom=foot if stacked else None, color=colour)
        if not stacked:
            _value(axes, middle, value, lying)
        foot += value


def _value(axes: Axes, middle: float, value: float, lying: bool) -> None:
    """Write the value at the end of its bar."""
    where, way = ((value, middle), (4, 0)) if lying else ((middle, value), (0, 2))
    sides: Style = {"ha": "left", "va": "center"} if lying else {"ha": "center", "va": "bottom"}
    axes.annotate(short(value), where, xytext=way, textcoords="offset points", fontsize=8, **sides)


def _names(axes: Axes, names: Sequence[str], label: str, lying: bool) -> None:
    """Set the ticks of one axis to the groups' names, and the label of the other."""
    if lying:
        axes.set_yticks(range(len(names)), names)
        axes.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
        axes.margins(x=0.12)
    else:
        axes.set_xticks(range(len(names)), names)
        axes.set(ylabel=label, xlim=(-0.6, len(names) - 0.4))
    axes.tick_params(axis="y" if lying else "x", length=0)
    axes.grid(axis="x" if lying else "y", **GRID)
    axes.set_axisbelow(True)


def _columns(points: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    pairs = list(points)
    return [px for px, _ in pairs], [py for _, py in pairs]


def _dashes(place: int) -> Any:
    """The dashes of the line number ``place`` in Matplotlib's unit, the width of the line."""
    drawn = dash(place)
    return (0, tuple(length / 2 for length in drawn)) if drawn[1] else (0, None)


def _handle(name: str, place: int, line: bool, dots: bool) -> Artist:
    """The legend entry of a name."""
    return Line2D(
        [],
        [],
        color=COLOURS[place % len(COLOURS)],
        linestyle=_dashes(place) if line else "none",
        linewidth=2,
        marker=SHAPES[place % len(SHAPES)] if dots else "",
        markeredgecolor=INK,
        markeredgewidth=0.6,
        label=name,
    )


def _axes(axes: Axes, points: Points, x: str, y: str, log: LogAxes) -> None:
    """Set the labels, scales and grid of both axes."""
    if log not in get_args(LogAxes):
        raise ValueError(f"log must be '', 'x', 'y' or 'xy', got {log!r}")
    axes.set(xlabel=x, ylabel=y)
    _scale(axes, "x", [px for px, _ in points], "x" in log)
    _scale(axes, "y", [py for _, py in points], "y" in log)
    axes.grid(**GRID)
    axes.set_axisbelow(True)


# Ticks


def short(value: float) -> str:
    """A number in a few characters: 450G, 0.25, 5µ, 12.5."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.4g}"
    power = min(max(math.floor(math.log10(abs(value)) / 3 + 1e-9), -2), len(_PREFIXES) - 3)
    return f"{value / 1000.0**power:.3g}{_PREFIXES[power + 2]}"


def _scale(axes: Axes, name: Literal["x", "y"], values: Sequence[float], log: bool) -> None:
    """Set readable ticks: 1, 2, 5 and powers of ten with a prefix, or powers of two if all values are."""
    axis: Axis = getattr(axes, f"{name}axis")
    if not log:
        tiny = 1e-9 * max(map(abs, values), default=0.0)
        axis.set_major_formatter(FuncFormatter(lambda value, _: short(value if abs(value) > tiny else 0.0)))
        return
    bad = next((value for value in values if not value > 0), None)
    if bad is not None:
        raise ValueError(f"a number on a logarithmic axis must be positive, got {bad:g}")
    axes.set(**{f"{name}scale": "log"})
    low, high = min(values, default=1.0), max(values, default=10.0)
    twos = high > low >= 1 and all(math.log2(value).is_integer() for value in values)
    ticks, labels = (_twos if twos else _tens)(low, high)
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter(labels))
    axis.set_minor_locator(NullLocator())


def _twos(low: float, high: float) -> tuple[list[float], list[str]]:
    first, last = int(math.log2(low)), int(math.log2(high))
    step = -(-(last - first + 1) // 9)
    ticks = [2.0**power for power in range(first, last + 1, step)]
    if high < 2**16:
        return ticks, [f"{tick:.0f}" for tick in ticks]
    powers = [min(int(math.log2(tick)) // 10, len(_BINARY) - 1) for tick in ticks]
    return ticks, [f"{tick / 1024**power:g}{_BINARY[power]}" for tick, power in zip(ticks, powers, strict=True)]


def _tens(low: float, high: float) -> tuple[list[float], list[str]]:
    """Powers of ten, with ticks between them if there are few."""
    decades = math.log10(high / low)
    between = (1,) if decades > 3 else (1, 3) if decades > 1.6 else (1, 2, 5) if decades > 0.5 else range(1, 10)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    step = 1 if decades <= 9 else -(-math.ceil(decades) // 9)
    ticks = [float(f"{part}e{power}") for power in range(first, last + 1, step) for part in between]
    inside = [tick for tick in ticks if low / 2 <= tick <= high * 2] or [low, high]
    return inside, [_prefixed(tick, inside) for tick in inside]


def _prefixed(value: float, others: Sequence[float]) -> str:
    """Like :func:`short`, but if one number on an axis needs a prefix, all numbers get one that can."""
    if value < 1 and min(others) < 1e-3:
        return short(value) if value < 1e-3 else f"{value * 1e3:g}m"
    return f"{value / 1e3:g}k" if 1e3 <= value < 1e4 <= max(others) else short(value)

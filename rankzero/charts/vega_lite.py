"""Charts for explorers, as Vega-Lite specifications in plain dicts. Standard library only.

Text and axes are drawn in ``currentColor``, the colour of the text around the chart, so that a chart is readable on
light and on dark pages.

Source: the Vega-Lite documentation, https://vega.github.io/vega-lite/docs/.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from textwrap import wrap
from typing import Any

from rankzero.charts.marks import (
    BREAK,
    COLOURS,
    STRIPES,
    Axis,
    Block,
    Spec,
    beside_names,
    colour_of,
    dashes_of,
    distinct,
    ink_on,
    paint,
    separate,
)
from rankzero.room import COLUMN, on_phone, room

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

#: The width of a chart of lines, and of one with many columns at most, pixels; on a desk and on a phone.
USUAL, WIDEST = (460, 264), (720, 280)

#: The maximum number of characters in a line of a title, and of an axis's title on a phone.
TITLE_WIDTH, AXIS_WIDTH = (72, 42), 38

_SEPARATE_LEGENDS = {"scale": dict.fromkeys(("color", "strokeDash", "shape", "xOffset"), "independent")}

#: Legends below a chart stand side by side, with room for names that a wider font makes longer.
_LEGENDS = {"layout": {"bottom": {"anchor": "start", "direction": "horizontal", "margin": 24}}}

#: The properties of marks that have a legend.
_LEGENDED = ("color", "strokeDash", "fill", "shape")

_LEGENDS_BELOW = {"layout": {"bottom": {"anchor": "start", "direction": "vertical", "margin": 12}}}

_RULE = {"type": "rule", "strokeDash": [4, 4], "color": "currentColor"}


def lines(
    rows: Sequence[Spec],
    x: Axis,
    y: Axis,
    by: str,
    mark: float | None = None,
    title: str = "",
    points: Sequence[Spec] = (),
    bands: Sequence[Spec] = (),
) -> Spec:
    """One line for each value of the field ``by``.

    Args:
        rows: the points of the lines, with the fields of ``x``, ``y`` and ``by``.
        x: the horizontal axis.
        y: the vertical axis.
        by: the field that names the lines.
        mark: draws a vertical rule at this ``x``.
        title: title of the chart.
        points: single points, measured or selected: rows with the same fields, in the colour of the line of that name.
        bands: rows ``{by, start, end}``, each a shaded band between two values of ``x`` in the colour of that name.
    """
    names, drawn = distinct([*rows, *points, *bands], by), distinct(rows, by)
    extra = [name for name in distinct(points, by) if name not in drawn]
    name, place = {"field": by, "title": " "}, {"x": x.channel(), "y": y.channel()}
    hover = place | {"tooltip": [name, x.hover(), y.hover()]}
    legend = {"legend": {"values": drawn} if drawn else None}
    path = {"color": colour_of(by, names) | legend, "strokeDash": dashes_of(by, names) | legend, "tooltip": [name]}
    layers: list[Spec] = [{"mark": {"type": "line", "strokeWidth": 2.5, "clip": True}, "encoding": place | path}]
    if mark is not None:
        found = {"x": x.channel(), "tooltip": [x.hover()]}
        layers.append({"data": {"values": [{x.field: mark}]}, "mark": _RULE, "encoding": found})
    # Invisible points, so that the tooltip works everywhere on a line; the line itself shows only its first point.
    layers.append({"mark": {"type": "point", "opacity": 0, "size": 90, "clip": True}, "encoding": hover})
    if points:
        dot = {"type": "point", "opacity": 1, "size": 75, "stroke": "currentColor", "strokeWidth": 1}
        fill = {"fill": colour_of(by, names) | {"legend": {"values": extra} if extra else None}}
        layers.append({"data": {"values": list(points)}, "mark": dot, "encoding": hover | fill})
    if bands:
        ends = {"x": x.channel(field="start"), "x2": {"field": "end"}, "tooltip": [name]}
        fill = {"fill": colour_of(by, names) | {"legend": None}}
        ground = {"type": "rect", "opacity": 0.15}
        layers.insert(0, {"data": {"values": list(bands)}, "mark": ground, "encoding": ends | fill})
    return {
        "title": title,
        "width": room(*USUAL),
        "height": 240,
        "data": {"values": list(rows)},
        "layer": layers,
        "resolve": {"scale": {"fill": "independent"}},
    }


def bars(rows: Sequence[Spec], x: Axis, y: Axis, by: str, title: str = "") -> Spec:
    """Bars over ``x``, one for each value of the field ``by``, side by side."""
    names = distinct(rows, by)
    encoding = {
        "x": x.channel(axis={"labelAngle": 0}),
        "xOffset": {"field": by, "sort": names},
        "y": y.channel(),
        "color": colour_of(by, names),
        "tooltip": [x.channel(), {"field": by, "title": " "}, y.channel(format=".4~g")],
    }
    data = {"values": list(rows)}
    columns = (len(names) + 0.5) * len(distinct(rows, x.field)) or 1
    step = room(22.0, min(22.0, WIDEST[1] / columns))
    return {"title": title, "width": {"step": step}, "height": 140, "data": data, "mark": "bar", "encoding": encoding}


def shares(rows: Sequence[Spec], x: Axis, y: Axis, by: str, title: str = "") -> Spec:
    """Horizontal stacked bars, one for each ``y``, with a part for each value of the field ``by``."""
    names = distinct(rows, by)
    encoding = {
        "y": y.channel(sort=None),
        "x": x.channel(stack="zero"),
        "color": colour_of(by, names, COLOURS[3:]),
        "order": {"field": "order"},
        "tooltip": [y.channel(), {"field": by, "title": " "}, x.channel(format=".4~g")],
    }
    data = {"values": [row | {"order": names.index(row[by])} for row in rows]}
    size = {"width": beside_names(420, distinct(rows, y.field)), "height": {"step": 24}}
    return {"title": title, **size, "data": data, "mark": "bar", "encoding": encoding}


def grid(cells: Sequence[Block], ranks: int, title: str) -> Spec:
    """A block picture: rows are ranks, columns are places, the colour is the origin, stripes mark a reduction."""
    rows = [asdict(cell) | {"label": cell.label, "ink": ink_on(cell.colour)} for cell in cells]
    whole = {"type": "ordinal", "scale": {"domain": list(range(ranks))}, "axis": {"labelAngle": 0}}
    position = {
        "x": {"field": "place", "title": "block"} | whole,
        "y": {"field": "rank", "title": "rank"} | whole,
        "tooltip": [{"field": name} for name in ("rank", "place", "origin", "label")],
    }
    square = {"type": "rect", "stroke": "#888888", "strokeWidth": 1}
    origin = colour_of("origin", range(ranks)) | {"legend": None}
    text = {"text": {"field": "label"}, "color": {"field": "ink", "type": "nominal", "scale": None}}
    return {
        "title": title,
        "width": {"step": room(38.0, min(38.0, WIDEST[1] / (ranks or 1)))},
        "height": {"step": 28},
        "data": {"values": rows},
        "encoding": position,
        "layer": [
            {"transform": [{"filter": "datum.origin !== null"}], "mark": square, "encoding": {"color": origin}},
            {"transform": [{"filter": "datum.origin === null"}], "mark": square | {"color": _stripes()}},
            {"mark": "text", "encoding": text},
        ],
        "resolve": {"scale": {"color": "independent"}},
    }


def _stripes(count: int = 5) -> Spec:
    """A gradient with hard edges: diagonal stripes."""
    stops = []
    for i in range(2 * count):
        for edge in (i, i + 1):
            stops.append({"offset": edge / (2 * count), "color": STRIPES[i % 2]})
    return {"gradient": "linear", "x1": 0, "y1": 0, "x2": 1, "y2": 1, "stops": stops}


def stacks(rows: Sequence[Spec], x: Axis, y: Axis, by: str, title: str = "", mark: float | None = None) -> Spec:
    """Vertical stacked bars, one for each ``x``, with a part for each value of the field ``by``.

    Bars and parts are in order of appearance in ``rows``, the first part at the bottom; ``mark`` draws a horizontal
    rule at that ``y``.
    """
    names = distinct(rows, by)
    encoding = {
        "x": x.channel(sort=None, axis={"labelAngle": 0}),
        "y": y.channel(stack="zero"),
        "color": colour_of(by, names),
        "order": {"field": "order"},
        "tooltip": [x.channel(), {"field": by, "title": " "}, y.channel(format=".4~g")],
    }
    data = {"values": [row | {"order": names.index(row[by])} for row in rows]}
    layers: list[Spec] = [{"data": data, "mark": "bar", "encoding": encoding}]
    if mark is not None:
        found = {"y": y.channel(), "tooltip": [y.channel(format=".4~g")]}
        layers.append({"data": {"values": [{y.field: mark}]}, "mark": _RULE, "encoding": found})
    columns = len(distinct(rows, x.field))
    step = max([22 if columns > 8 else 40, *(7 * len(str(row[x.field])) + 10 for row in rows)])
    if step * columns > room(*WIDEST):  # not enough room for every label
        encoding["x"] = x.channel(sort=None, axis={"labelAngle": 0, "labelOverlap": "parity"})
        step = max(3, room(*WIDEST) // columns)
    return {"title": title, "width": {"step": step}, "height": 200, "layer": layers}


def table(
    cells: Sequence[Spec],
    x: Axis,
    y: Axis,
    *,
    colour: str,
    label: str,
    tooltip: Sequence[str],
    title: str = "",
    names: Sequence[Any] | None = None,
) -> Spec:
    """A table of coloured cells with a text in each; if the texts do not fit, only the tooltip shows them.

    Args:
        cells: one dict for each cell, with all fields that are named here.
        x: the field of the columns: numbers are sorted, names are in order of appearance.
        y: the field of the rows, ordered likewise.
        colour: the field that colours the cells; cells with the same value share a colour, None is a cell without
            colour, and a rank or the number of a group has its usual colour.
        label: the field with the text of a cell.
        tooltip: the fields that the tooltip shows.
        title: title of the table.
        names: the values of ``colour`` in the order of the legend; without them there is no legend.
    """
    values = [value for value in dict.fromkeys([*(names or ()), *distinct(cells, colour)]) if value is not None]
    paints = {value: paint(value, index) for index, value in enumerate(values)}
    data = []
    for cell in cells:
        ground = paints.get(cell[colour])
        data.append(cell | {"text": str(cell[label]), "ink": ink_on(ground) if ground else "currentColor"})
    columns, rows = len(distinct(cells, x.field)), len(distinct(cells, y.field))
    longest = max((len(cell["text"]) for cell in data), default=1)
    width = max(10, min(7 * longest + 16, beside_names(620, distinct(cells, y.field)) // (columns or 1)))
    height = max(1.1, min(28, 560 / (rows or 1)))
    kind = colour_of(colour, values, list(paints.values()) or COLOURS) | ({} if names else {"legend": None})
    whole = {"scale": {"paddingInner": 0.06, "paddingOuter": 0}}
    layers: list[Spec] = [
        {
            "mark": "rect",
            "encoding": {"color": {"condition": {"test": f"isValid(datum['{colour}'])"} | kind, "value": "#88888833"}},
        }
    ]
    if height >= 11 and width >= 6.2 * longest:
        ink = {"text": {"field": "text"}, "color": {"field": "ink", "type": "nominal", "scale": None}}
        layers.append({"mark": {"type": "text", "fontSize": 11 if height > 15 else 10}, "encoding": ink})
    return {
        "title": title,
        "width": {"step": width},
        "height": {"step": height},
        "data": {"values": data},
        "encoding": {
            "x": separate(x.field, x.title, cells) | whole,
            "y": separate(y.field, y.title, cells) | whole,
            "tooltip": [{"field": field} for field in tooltip],
        },
        "layer": layers,
        "resolve": {"scale": {"color": "independent"}},
    }


def beside(*views: Spec) -> Spec:
    """Views in a row, each with its own colours; on a phone they stand below each other."""
    if on_phone():
        return below(*views)
    return {"hconcat": list(views), "spacing": 28, "resolve": _SEPARATE_LEGENDS}


def below(*views: Spec) -> Spec:
    """Views in a column, each with its own colours."""
    return {"vconcat": list(views), "spacing": 20, "resolve": _SEPARATE_LEGENDS}


def chart(view: Spec, description: str) -> Spec:
    """A complete chart: ``view`` with the schema, the course's style, and a sentence that says what it shows.

    Long titles are wrapped; on a phone as many names of a legend stand in a row as fit.
    """
    text = {"labelColor": "currentColor", "titleColor": "currentColor"}
    narrow = room({}, {"columns": _abreast(view), "columnPadding": 12} | _LEGENDS_BELOW)
    config = {
        "background": "transparent",
        "view": {"stroke": None},
        "axis": text | {"gridColor": "#88888855", "domainColor": "currentColor", "tickColor": "currentColor"},
        "axisX": {"labelSeparation": 8},  # a wider font makes the labels longer
        "axisY": {"titlePadding": room(12, 6)} | room({}, {"labelLimit": 100}),
        "legend": text | {"orient": "bottom", "columns": 4, "labelLimit": 320, "columnPadding": 24} | _LEGENDS | narrow,
        "title": {"color": "currentColor", "anchor": "start"} | room({}, {"frame": "bounds", "fontSize": 12}),
    }
    return {"$schema": SCHEMA, "description": description, **_titled(view), "config": config}


def _abreast(view: Any) -> int:
    """How many names of its legends fit beside each other on a phone, at most four."""
    longest = max((len(str(name)) for name in _names(view)), default=1)
    return max(1, min(4, int(COLUMN / (6.8 * longest + 40))))


def _names(view: Any) -> list[Any]:
    """The names that the colours, dashes and shapes of a chart stand for."""
    if isinstance(view, list):
        return [name for part in view for name in _names(part)]
    if not isinstance(view, dict):
        return []
    channels = [view.get(kind) for kind in _LEGENDED]
    found = [channel.get("condition", channel) for channel in channels if isinstance(channel, dict)]
    mine = [(one.get("scale") or {}).get("domain", ()) for one in found if one.get("legend", True)]
    return [name for names in mine for name in names] + [name for part in view.values() for name in _names(part)]


def _titled(view: Spec) -> Spec:
    """``view`` and the views in it, with long titles wrapped, and on a phone titles of axes and names of rows."""
    views: Spec = {key: [_titled(one) for one in view[key]] for key in ("hconcat", "vconcat", "layer") if key in view}
    most = room(*TITLE_WIDTH)
    title = view.get("title") or []
    lines = [title] if isinstance(title, str) else title
    if any(len(line) > most for line in lines):
        views["title"] = [part for line in lines for part in wrap(line, most)]
    if on_phone() and "encoding" in view:
        broken = {"x": _broken, "y": _lines}
        views["encoding"] = {key: broken[key](one) if key in broken else one for key, one in view["encoding"].items()}
    return view | views


def _broken(channel: Spec) -> Spec:
    """A horizontal axis with its title in lines that fit a phone."""
    title = channel.get("title")
    return channel | {"title": wrap(title, AXIS_WIDTH)} if isinstance(title, str) and title else channel


def _lines(channel: Spec) -> Spec:
    """A vertical axis whose names are broken into lines."""
    axis = channel.get("axis", {})
    if channel.get("type") not in ("nominal", "ordinal") or axis is None or "labelExpr" in axis:
        return channel
    return channel | {"axis": axis | {"labelExpr": f"split(datum.label, '{BREAK}')"}}

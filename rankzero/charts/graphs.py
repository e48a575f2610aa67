"""Two kinds of charts: nodes with edges between them, and bars in lanes over time. Standard library only."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankzero.charts.marks import (
    COLOURS,
    Axis,
    Spec,
    beside_names,
    colour_of,
    dashes_of,
    distinct,
    hover_of,
    ink_on,
    kind_colours,
    lanes,
    paint,
    separate,
)
from rankzero.room import room

#: Fields of nodes and edges that only affect how they are drawn; tooltips leave them out.
_DRAWING_FIELDS = ("x", "y", "x2", "y2", "colour", "arrow")


def graph(nodes: Sequence[Spec], edges: Sequence[Spec], title: str = "", names: Sequence[str] | None = None) -> Spec:
    """Nodes at given places, and arrows between them.

    Args:
        nodes: ``{name, x, y, colour, label}``; ``y`` grows upward. ``colour`` is a ``#rrggbb`` value, the number of a
            rank, whose colour the node takes, or any other text: nodes with the same text share a colour, which the
            legend explains. A ``label`` of at most three characters is drawn in its node, a longer one beneath it. The
            tooltip shows the name, the label and any other fields.
        edges: ``{x, y, x2, y2, kind}``: an arrow from the place of one node to that of another, or a line without a
            head if ``arrow`` is False. Edges of one kind share a colour; those of kind ``""`` have the text's colour.
        names: the texts in ``colour`` in the order of the legend; by default, in order of appearance.
    """
    frame = _Frame.around(nodes)
    kinds = [kind for kind in distinct(edges, "kind") if kind]
    arrows = [_arrow(edge, edges, frame) for edge in edges]
    line, head = {"type": "rule", "strokeWidth": 2}, {"type": "point", "shape": "triangle", "filled": True, "size": 60}
    told = {"tooltip": hover_of(edges, _DRAWING_FIELDS)}
    ends = frame.at("px", "py") | {"x2": {"field": "px2"}, "y2": {"field": "py2"}}
    angle = {"angle": {"field": "angle", "type": "quantitative", "scale": None}}
    named = colour_of("kind", kinds, list(kind_colours(kinds).values()))
    colour, quiet = _if_kind(named, "currentColor"), _if_kind(named | {"legend": None}, "currentColor")
    dashes = _if_kind(dashes_of("kind", kinds), [1, 0])
    heads = [arrow for arrow in arrows if arrow.get("arrow", True)]
    drawn: list[Spec] = [
        {"data": {"values": arrows}, "mark": line, "encoding": ends | told | {"color": colour, "strokeDash": dashes}},
        {
            "data": {"values": heads},
            "mark": head | {"opacity": 1},
            "encoding": frame.at("hx", "hy") | angle | told | {"color": quiet},
        },
    ]
    return {
        "title": title,
        "width": frame.width,
        "height": frame.height,
        "layer": [*(drawn if edges else []), *_discs(nodes, frame, names or ())],
        "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
    }


@dataclass(frozen=True)
class _Frame:
    """How the coordinates of a graph map to pixels of the chart.

    Attributes:
        left, foot: coordinates of the lower left corner.
        across, up: pixels per unit of ``x`` and of ``y``.
        width, height: size of the chart, pixels.
        radius: radius of a node, pixels.
    """

    left: float
    foot: float
    across: float
    up: float
    width: float
    height: float
    radius: float

    @classmethod
    def around(cls, nodes: Sequence[Spec]) -> _Frame:
        """A frame for ``nodes`` with the same scale on both axes, unless they are much wider than high."""
        xs, ys = [node["x"] for node in nodes] or [0], [node["y"] for node in nodes] or [0]
        wide, high = max(xs) - min(xs), max(ys) - min(ys)
        side, foot = max(28.0, 3.3 * max((len(str(node["label"])) for node in nodes), default=0)), 36.0
        free = room(460 if len(nodes) <= 24 else 640, 290) - 2 * side
        across = up = min(free / (wide or 1), 300 / (high or 1))
        if wide > 2.5 * high:
            across, up = free / wide, max(free / wide, min(150, 44 * high) / (high or 1))
        near = _nearest(nodes, across, up)
        less = min(1.0, 110 / near)
        across, up, radius = across * less, up * less, max(4.0, min(16.0, 0.4 * near * less))
        left, low = min(xs) - side / across, min(ys) - foot / up
        return cls(left, low, across, up, wide * across + 2 * side, high * up + 2 * foot, radius)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Pixels from the left edge and from the bottom edge."""
        return (x - self.left) * self.across, (y - self.foot) * self.up

    def at(self, x: str, y: str) -> Spec:
        """The encoding of two fields that hold pixels."""
        return {"x": _pixels(x, self.width), "y": _pixels(y, self.height)}


def _nearest(nodes: Sequence[Spec], across: float, up: float) -> float:
    """Distance between the two nodes that are nearest to each other, pixels."""
    pairs = itertools.combinations([(node["x"] * across, node["y"] * up) for node in nodes], 2)
    return min((math.dist(one, other) for one, other in pairs if one != other), default=110.0)


def _pixels(field: str, size: float) -> Spec:
    scale = {"domain": [0, size], "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "axis": None, "scale": scale}


def _arrow(edge: Spec, edges: Sequence[Spec], frame: _Frame) -> Spec:
    """The edge in pixels, from the rim of one node to the rim of the other; opposite edges are drawn side by side."""
    x, y = frame.place(edge["x"], edge["y"])
    x2, y2 = frame.place(edge["x2"], edge["y2"])
    length = math.hypot(x2 - x, y2 - y) or 1.0
    along, over = (x2 - x) / length, (y2 - y) / length
    back = any((e["x"], e["y"], e["x2"], e["y2"]) == (edge["x2"], edge["y2"], edge["x"], edge["y"]) for e in edges)
    aside = 0.4 * frame.radius if back else 0.0
    start, stop = frame.radius, length - frame.radius - (4 if edge.get("arrow", True) else 0)
    lines = {
        f"p{axis}{end}": base + way * run + sideways
        for axis, base, way, sideways in (("x", x, along, over * aside), ("y", y, over, -along * aside))
        for end, run in (("", start), ("2", stop))
    }
    tip = {"hx": lines["px2"], "hy": lines["py2"], "angle": math.degrees(math.atan2(along, over))}
    return edge | lines | tip


def _if_kind(channel: Spec, plain: Any) -> Spec:
    """``channel`` for edges that have a kind, ``plain`` for the others."""
    if not channel["scale"]["domain"]:
        return {"value": plain}
    return {"condition": {"test": "datum.kind !== ''"} | channel, "value": plain}


def _discs(nodes: Sequence[Spec], frame: _Frame, names: Sequence[str]) -> list[Spec]:
    """The layers of the nodes: discs, the labels in them and the labels beneath them."""
    paints = _paints(nodes, names)
    words = [colour for colour, own in paints.items() if isinstance(colour, str) and colour != own]
    rows = [_spot(node, frame, paints) for node in nodes]
    legend = {"legend": {"values": words} if words else None}
    fill = colour_of("colour", list(paints), list(paints.values()) or COLOURS) | legend
    place = frame.at("px", "py") | {"tooltip": hover_of(nodes, _DRAWING_FIELDS)}
    disc = {"type": "circle", "size": (2 * frame.radius) ** 2, "opacity": 1, "stroke": "currentColor", "strokeWidth": 1}
    ink = {"field": "ink", "type": "nominal", "scale": None}
    data = {"values": rows}
    inside = {"type": "text", "fontSize": max(10.0, min(12.0, frame.radius))}
    beneath = {"type": "text", "fontSize": 11, "dy": frame.radius + 9, "color": "currentColor"}
    return [
        {"data": data, "mark": disc, "encoding": place | {"color": fill}},
        {"data": data, "mark": inside, "encoding": place | {"text": {"field": "inside"}, "color": ink}},
        {"data": data, "mark": beneath, "encoding": place | {"text": {"field": "beneath"}}},
    ]


def _paints(nodes: Sequence[Spec], names: Sequence[str]) -> dict[Any, str]:
    """The colour of each value of the field ``colour``; texts are numbered separately, ``names`` first."""
    values = list(dict.fromkeys([*names, *distinct(nodes, "colour")]))
    words = [value for value in values if isinstance(value, str) and not value.startswith("#")]
    return {value: paint(value, 3 + words.index(value) if value in words else 0) for value in values}


def _spot(node: Spec, frame: _Frame, paints: Mapping[Any, str]) -> Spec:
    x, y = frame.place(node["x"], node["y"])
    label = str(node["label"])
    short = len(label) <= 3
    texts = {"inside": label if short and frame.radius >= 7 else "", "beneath": "" if short else label}
    return node | texts | {"px": x, "py": y, "ink": ink_on(paints[node["colour"]])}


def timeline(rows: Sequence[Spec], x: Axis, y: Axis, title: str = "", names: Sequence[str] | None = None) -> Spec:
    """Bars over time: a row for each lane, a bar from start to end; overlapping bars of a lane share its height.

    Args:
        rows: ``{lane, start, end, kind}``; optionally ``label``, a text in the bar, and other fields for the tooltip.
        x: the time axis; its title has the unit.
        y: the axis of lanes.
        names: the kinds in the order of the legend; by default, in order of appearance. ``send`` and ``recv`` always
            have the same colours.
    """
    colours = kind_colours(names or distinct(rows, "kind"))
    places, count = _rows_of_a_lane(rows, list(colours))
    width, first = beside_names(460, distinct(rows, "lane")), min((row["start"] for row in rows), default=0)
    ends = [*(row["end"] for row in rows), *x.settings.get("scale", {}).get("domain", ())]
    scale = width / (max(ends, default=1) - min(first, 0) or 1)
    data = []
    for index, row in enumerate(rows):
        text = str(row.get("label", ""))
        fits = 6.5 * len(text) < scale * (row["end"] - row["start"])
        more = {"text": text if fits else "", "middle": (row["start"] + row["end"]) / 2, "place": places[index]}
        data.append(row | more | {"ink": ink_on(colours.get(row["kind"], COLOURS[0]))})
    within = {"domain": list(range(count))}
    lane = {
        "y": separate("lane", y.title, rows),
        "yOffset": {"field": "place", "type": "ordinal", "scale": within},
        "tooltip": hover_of(rows, ("label",)),
    }
    span = {"x": x.channel(field="start"), "x2": {"field": "end"}}
    bar = {"type": "bar", "stroke": "currentColor", "strokeWidth": 0.5}
    ink = {"text": {"field": "text"}, "color": {"field": "ink", "type": "nominal", "scale": None}}
    return {
        "title": title,
        "width": width,
        "height": {"step": 26 if count < 3 else 36, "for": "position"},
        "data": {"values": data},
        "encoding": lane,
        "layer": [
            {
                "mark": bar,
                "encoding": span | {"color": colour_of("kind", list(colours), list(colours.values()) or COLOURS)},
            },
            {"mark": {"type": "text", "fontSize": 10}, "encoding": {"x": x.channel(field="middle")} | ink},
        ],
        "resolve": {"scale": {"color": "independent"}},
    }


def _rows_of_a_lane(rows: Sequence[Spec], kinds: Sequence[str]) -> tuple[list[int], int]:
    """The place of each bar within its lane, and the number of places in a lane.

    If bars overlap but those of one kind never do, each of up to three kinds gets a place; otherwise a bar takes the
    first free place.
    """
    places, count = _apart(rows, "lane")
    if count == 1:
        return places, 1
    apart = _apart([row | {"lane": (row["lane"], row["kind"])} for row in rows], "lane")[1] == 1
    return ([kinds.index(row["kind"]) for row in rows], len(kinds)) if apart and len(kinds) <= 3 else (places, count)


def _apart(rows: Sequence[Spec], field: str) -> tuple[list[int], int]:
    """The place of each row among the overlapping rows with the same ``field``, and the number of places."""
    places, most = [0] * len(rows), 1
    for value in distinct(rows, field):
        mine = [index for index, row in enumerate(rows) if row[field] == value]
        found, count = lanes([(rows[index]["start"], rows[index]["end"]) for index in mine])
        most = max(most, count)
        for index, place in zip(mine, found, strict=True):
            places[index] = place
    return places, most

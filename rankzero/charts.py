"""Charts as plain dicts in the Vega-Lite grammar (version 5), for explorers. Standard library only (browsers run it).

Text and axes are drawn in ``currentColor``, the colour of the text around the chart, so that a chart reads on light and
on dark pages. :func:`blocks` says what a block picture shows; :mod:`rankzero.figures` draws the same blocks on paper.

Source: the Vega-Lite documentation, https://vega.github.io/vega-lite/docs/.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"

#: One colour for each of eight ranks. Chosen by search: any two stay apart for the three kinds of colour blindness
#: (Machado 2009), and each has a contrast of about 3 or more on white and on the book's dark page.
COLOURS = ("#0066bb", "#cc8800", "#bb1188", "#4499bb", "#776600", "#aa77ff", "#ff4488", "#8811ff")
#: Bytes sent and bytes received.
SENT, RECEIVED = COLOURS[0], COLOURS[1]
#: The two colours of the stripes that mark a reduction over all ranks.
STRIPES = ("#505050", "#7c7c7c")

#: Operations whose result mixes all ranks, and those that hold one block per rank before or after.
REDUCING = frozenset({"reduce", "all_reduce", "reduce_scatter"})
ONE_BEFORE = frozenset({"gather", "all_gather"})
ONE_AFTER = frozenset({"scatter", "reduce_scatter"})

_OWN = {"scale": {"color": "independent", "strokeDash": "independent"}}

Spec = dict[str, Any]
State = Sequence[Sequence[float] | None]


@dataclass(frozen=True)
class Block:
    """One block of a picture: the rank that holds it, its place in the row, its value, the rank it came from.

    ``origin`` is None for a reduction over all ranks.
    """

    rank: int
    place: int
    value: float
    origin: int | None

    @property
    def label(self) -> str:
        """The value in a few characters: 104, 3.125, 4e12."""
        return f"{self.value:.4g}" if abs(self.value) < 1e4 else f"{self.value:.0e}".replace("e+", "e")

    @property
    def colour(self) -> str:
        """The colour of the rank it came from, or the stripes' own."""
        return STRIPES[0] if self.origin is None else COLOURS[self.origin % len(COLOURS)]


def ink_on(colour: str) -> str:
    """Black or white, whichever reads on ``colour``, a ``#rrggbb``."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.45 else "white"


def blocks(operation: str, before: State, after: State) -> tuple[list[Block], list[Block]]:
    """The blocks of a collective before and after it, one row per rank.

    A rank that holds a single block has it at its own place: rank 2 fills place 2. A value that was not reduced comes
    from the rank that held it before, so values must differ between ranks.

    Args:
        operation: a library name, such as ``"all_gather"``.
        before: what each rank holds, one number per block; None for nothing.
        after: what each rank holds afterwards; None where the operation promises nothing.
    """
    origins = {value: rank for rank, row in enumerate(before) for value in row or ()}
    reduced = operation in REDUCING
    return (
        _placed(before, operation in ONE_BEFORE, origins),
        _placed(after, operation in ONE_AFTER, {} if reduced else origins),
    )


def _placed(state: State, single: bool, origins: Mapping[float, int]) -> list[Block]:
    return [
        Block(rank, rank if single else place, value, origins.get(value))
        for rank, row in enumerate(state)
        for place, value in enumerate(row or ())
    ]


@dataclass(frozen=True)
class Axis:
    """A field of the data and how it is drawn: ``title`` with its unit, logarithmic or not, a number or a category."""

    field: str
    title: str
    log: bool = False
    category: bool = False

    def channel(self, **more: Any) -> Spec:
        """The encoding of this field."""
        spec: Spec = {"field": self.field, "type": "nominal" if self.category else "quantitative", "title": self.title}
        if self.log:
            spec |= {"scale": {"type": "log"}, "axis": {"format": "~s", "tickCount": 6}}
        return spec | more


def _colour(field: str, names: Sequence[Any], colours: Sequence[str], title: str | None = None) -> Spec:
    scale = {"domain": list(names), "range": list(colours)}
    return {"field": field, "type": "nominal", "title": title, "scale": scale}


def _names(rows: Iterable[Mapping[str, Any]], field: str) -> list[str]:
    return list(dict.fromkeys(row[field] for row in rows))


def lines(rows: Sequence[Spec], x: Axis, y: Axis, by: str, mark: float | None = None, title: str = "") -> Spec:
    """One line for each value of the field ``by``; ``mark`` draws a vertical rule at that ``x``."""
    names = _names(rows, by)
    dashes = {"domain": names, "range": [[1, 0], [8, 3], [4, 2], [9, 3, 2, 3]][: len(names)]}
    encoding = {
        "x": x.channel(),
        "y": y.channel(),
        "color": _colour(by, names, COLOURS),
        "strokeDash": {"field": by, "type": "nominal", "title": None, "scale": dashes},
        "tooltip": [{"field": by, "title": " "}, x.channel(format=".3~s"), y.channel(format=".3~s")],
    }
    layers: list[Spec] = [{"mark": {"type": "line", "strokeWidth": 2.5, "clip": True}, "encoding": encoding}]
    if mark is not None:
        rule = {"type": "rule", "strokeDash": [4, 4], "color": "currentColor"}
        layers.append({"data": {"values": [{x.field: mark}]}, "mark": rule, "encoding": {"x": x.channel()}})
    return {"title": title, "width": 460, "height": 240, "data": {"values": list(rows)}, "layer": layers}


def bars(rows: Sequence[Spec], x: Axis, y: Axis, by: str, title: str = "") -> Spec:
    """Bars over ``x``, side by side for each value of the field ``by``."""
    names = _names(rows, by)
    encoding = {
        "x": x.channel(axis={"labelAngle": 0}),
        "xOffset": {"field": by, "sort": names},
        "y": y.channel(),
        "color": _colour(by, names, COLOURS),
        "tooltip": [x.channel(), {"field": by, "title": " "}, y.channel(format=".4~g")],
    }
    data = {"values": list(rows)}
    return {"title": title, "width": {"step": 22}, "height": 140, "data": data, "mark": "bar", "encoding": encoding}


def shares(rows: Sequence[Spec], x: Axis, y: Axis, by: str, title: str = "") -> Spec:
    """Lying bars, one for each ``y``, in parts for each value of the field ``by``."""
    names = _names(rows, by)
    encoding = {
        "y": y.channel(sort=None),
        "x": x.channel(stack="zero"),
        "color": _colour(by, names, COLOURS[3:]),
        "order": {"field": "order"},
        "tooltip": [y.channel(), {"field": by, "title": " "}, x.channel(format=".4~g")],
    }
    data = {"values": [row | {"order": names.index(row[by])} for row in rows]}
    return {"title": title, "width": 420, "height": {"step": 24}, "data": data, "mark": "bar", "encoding": encoding}


def grid(cells: Sequence[Block], ranks: int, title: str) -> Spec:
    """A block picture: rows are ranks, columns are places, colour is the origin, stripes are a reduction."""
    rows = [asdict(cell) | {"label": cell.label, "ink": ink_on(cell.colour)} for cell in cells]
    whole = {"type": "ordinal", "scale": {"domain": list(range(ranks))}, "axis": {"labelAngle": 0}}
    position = {
        "x": {"field": "place", "title": "block"} | whole,
        "y": {"field": "rank", "title": "rank"} | whole,
        "tooltip": [{"field": name} for name in ("rank", "place", "origin", "label")],
    }
    square = {"type": "rect", "stroke": "#888888", "strokeWidth": 1}
    origin = _colour("origin", range(ranks), COLOURS[:ranks]) | {"legend": None}
    text = {"text": {"field": "label"}, "color": {"field": "ink", "type": "nominal", "scale": None}}
    return {
        "title": title,
        "width": {"step": 38},
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


def beside(*views: Spec) -> Spec:
    """Views in a row, each with its own colours."""
    return {"hconcat": list(views), "spacing": 28, "resolve": _OWN}


def below(*views: Spec) -> Spec:
    """Views in a column, each with its own colours."""
    return {"vconcat": list(views), "spacing": 20, "resolve": _OWN}


def chart(view: Spec, description: str) -> Spec:
    """A complete chart: ``view``, the grammar's version, the house's style, and a sentence that says what it shows."""
    text = {"labelColor": "currentColor", "titleColor": "currentColor"}
    config = {
        "background": "transparent",
        "view": {"stroke": None},
        "axis": text | {"gridColor": "#88888855", "domainColor": "currentColor", "tickColor": "currentColor"},
        "legend": text | {"orient": "bottom"},
        "title": {"color": "currentColor", "anchor": "start"},
    }
    return {"$schema": SCHEMA, "description": description, **view, "config": config}

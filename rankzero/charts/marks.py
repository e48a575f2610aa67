"""What charts and figures have in common: colours, dashes, blocks, axes, lanes.

:mod:`rankzero.charts` and :mod:`rankzero.figures` both draw the blocks that :func:`blocks` computes. Standard library
only: this runs in browsers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankzero.room import room

#: One colour for each of eight ranks. Chosen by search: any two can be told apart with each of the three kinds of color
#: blindness (Machado 2009), and each has a contrast of about 3 or more on white and on the book's dark page.
COLOURS = ("#0066bb", "#cc8800", "#bb1188", "#4499bb", "#776600", "#aa77ff", "#ff4488", "#8811ff")
#: Dash patterns of lines, in pixels drawn and left out, so that lines can be told apart without colour.
DASHES = ((1, 0), (8, 3), (4, 2), (9, 3, 2, 3))
#: Bytes sent and bytes received.
SENT, RECEIVED = COLOURS[0], COLOURS[1]
#: The two colours of the stripes that mark a reduction over all ranks.
STRIPES = ("#505050", "#7c7c7c")

#: Operations whose result combines all ranks' values, and those in which a rank holds one block before or after.
REDUCING = frozenset({"reduce", "all_reduce", "reduce_scatter"})
ONE_BEFORE = frozenset({"gather", "all_gather"})
ONE_AFTER = frozenset({"scatter", "reduce_scatter"})

Spec = dict[str, Any]
State = Sequence[Sequence[float] | None]


@dataclass(frozen=True)
class Block:
    """One block of a picture.

    Attributes:
        rank: the rank that holds it.
        place: its place in the row.
        value: its value.
        origin: the rank it came from; None for a reduction over all ranks.
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
        """The colour of the rank it came from, or of the stripes that mark a reduction."""
        return STRIPES[0] if self.origin is None else COLOURS[self.origin % len(COLOURS)]


def dash(index: int) -> tuple[int, ...]:
    """The dashes of the line number ``index``; no two of the first 32 lines share both colour and dashes."""
    return DASHES[(index + index // len(COLOURS)) % len(DASHES)]


def kind_colours(kinds: Iterable[str]) -> dict[str, str]:
    """A colour for each kind of operation, in order of appearance; ``send`` and ``recv`` always have the same."""
    own = {"send": SENT, "recv": RECEIVED}
    others = [kind for kind in dict.fromkeys(kinds) if kind not in own]
    free = {kind: COLOURS[2 + index % (len(COLOURS) - 2)] for index, kind in enumerate(others)}
    return {kind: (own | free)[kind] for kind in dict.fromkeys(kinds)}


def group_colour(group: int) -> str:
    """The colour of a group, by its number. After eight groups the colours repeat, shifted by one."""
    return COLOURS[(group + group // len(COLOURS)) % len(COLOURS)]


def ink_on(colour: str) -> str:
    """Black or white, whichever is readable on ``colour``, a ``#rrggbb`` value."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return "black" if 0.3 * red + 0.6 * green + 0.1 * blue > 0.45 else "white"


def blocks(operation: str, before: State, after: State) -> tuple[list[Block], list[Block]]:
    """The blocks before and after a collective, one row per rank.

    Where each rank holds a single block, it is in the rank's own place: rank 2 has its block in place 2. A value that
    was not reduced is traced to the rank that held it before, so values must differ between ranks.

    Args:
        operation: the name in ``torch.distributed``, such as ``"all_gather"``.
        before: what each rank holds, one number per block; None for nothing.
        after: what each rank holds afterward; None where the operation leaves the result undefined.
    """
    origins = {value: rank for rank, row in enumerate(before) for value in row or ()}
    reduced = operation in REDUCING
    return (
        _placed(before, operation in ONE_BEFORE, origins),
        _placed(after, operation in ONE_AFTER, {} if reduced else origins),
    )


def _placed(state: State, single: bool, origins: Mapping[float, int]) -> list[Block]:
    return [
        Block(rank, rank if single else index, value, origins.get(value))
        for rank, row in enumerate(state)
        for index, value in enumerate(row or ())
    ]


#: On logarithmic axes, grid lines between powers of ten are faint.
_TEN = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6"
_FAINT = {"condition": {"test": _TEN, "value": 1}, "value": 0.3}


@dataclass(frozen=True)
class Axis:
    """A field of the data, and how its axis is drawn.

    Attributes:
        field: name of the field.
        title: title of the axis, with the unit.
        log: whether the axis is logarithmic.
        category: whether the values are categories instead of numbers.
        plain: how logarithmic axes and tooltips print numbers. By default 20,000 is 20k and 0.05 is 50m, which suits
            base units (bytes, seconds, FLOP); with ``plain`` they are 20,000 and 0.05, which suits days, dollars and
            fractions.
        settings: further properties of the encoding, such as a scale with given ends.
    """

    field: str
    title: str
    log: bool = False
    category: bool = False
    plain: bool = False
    settings: Spec = dataclasses.field(default_factory=dict)

    def channel(self, **more: Any) -> Spec:
        """The encoding of this field."""
        spec: Spec = {"field": self.field, "type": "nominal" if self.category else "quantitative", "title": self.title}
        if self.log:
            written = ",~r" if self.plain else "~s"
            spec |= {"scale": {"type": "log"}, "axis": {"format": written, "tickCount": 6, "gridOpacity": _FAINT}}
        return spec | self.settings | more

    def hover(self) -> Spec:
        """A line of a tooltip with this field."""
        written = {} if self.category else {"format": ",.3~r" if self.plain else ".3~s"}
        return {"field": self.field, "title": self.title} | written


def lanes(spans: Sequence[tuple[float, float]]) -> tuple[list[int], int]:
    """Put overlapping spans of time into separate lanes: the lane of each ``(start, end)``, and the number of lanes."""
    ends: list[float] = []
    places = [0] * len(spans)
    for index, (start, end) in sorted(enumerate(spans), key=lambda pair: pair[1][0]):
        free = next((lane for lane, last in enumerate(ends) if last <= start), len(ends))
        ends[free : free + 1] = [end]
        places[index] = free
    return places, max(1, len(ends))


def colour_of(field: str, names: Sequence[Any], colours: Sequence[str] = COLOURS, title: str | None = None) -> Spec:
    """The encoding that gives each of ``names``, values of ``field``, a colour; if there are too few, they repeat."""
    scale = {"domain": list(names), "range": [colours[i % len(colours)] for i in range(len(names))]}
    return {"field": field, "type": "nominal", "title": title, "scale": scale} | _no_legend(names)


def dashes_of(field: str, names: Sequence[Any]) -> Spec:
    """The encoding that gives each of ``names``, values of ``field``, a dash pattern."""
    scale = {"domain": list(names), "range": [list(dash(i)) for i in range(len(names))]}
    return {"field": field, "type": "nominal", "title": None, "scale": scale} | _no_legend(names)


def _no_legend(names: Sequence[Any]) -> Spec:
    """No legend if there are no names: an empty one would make the chart infinitely large."""
    return {} if names else {"legend": None}


def distinct(rows: Iterable[Mapping[str, Any]], field: str) -> list[Any]:
    """The distinct values of ``field``, in order of appearance."""
    return list(dict.fromkeys(row[field] for row in rows))


def hover_of(rows: Sequence[Mapping[str, Any]], hidden: Iterable[str]) -> list[Spec]:
    """A tooltip with every field of the rows except the ``hidden`` ones."""
    fields = dict.fromkeys(field for row in rows for field in row)
    return [{"field": field} for field in fields if field not in set(hidden)]


def separate(field: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Spec:
    """The encoding of an axis with discrete places: numbers in ascending order, names in order of appearance."""
    numbers = all(isinstance(row[field], int | float) for row in rows)
    order: Spec = {} if numbers else {"sort": None}
    return {
        "field": field,
        "type": "ordinal",
        "title": title,
        "axis": {"labelAngle": 0, "labelOverlap": True, "ticks": False},
    } | order


#: Where the name of a row is broken on a phone.
BREAK = ", "


def beside_names(desk: float, names: Iterable[Any]) -> float:
    """The width of a chart with these names at its left: ``desk``, or on a phone what they leave."""
    longest = max((len(part) for name in names for part in str(name).split(BREAK)), default=1)
    return room(desk, max(140.0, min(desk, 300.0 - 6 * longest)))


def paint(value: Any, index: int) -> str:
    """The colour of a value: a ``#rrggbb`` value itself, a number's as a group, anything else's by its ``index``."""
    if isinstance(value, str) and value.startswith("#"):
        return value
    return group_colour(value if isinstance(value, int) else index)

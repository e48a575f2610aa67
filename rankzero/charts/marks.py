"""What charts and pictures are made of: colours, dashes, blocks, axes, lanes. Standard library only (browsers run it).

:func:`blocks` says what a block picture shows; :mod:`rankzero.charts` and :mod:`rankzero.figures` draw the same blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: One colour for each of eight ranks. Chosen by search: any two stay apart for the three kinds of colour blindness
#: (Machado 2009), and each has a contrast of about 3 or more on white and on the book's dark page.
COLOURS = ("#0066bb", "#cc8800", "#bb1188", "#4499bb", "#776600", "#aa77ff", "#ff4488", "#8811ff")
#: Dashes of lines, in pixels drawn and left out: lines are told apart without colour.
DASHES = ((1, 0), (8, 3), (4, 2), (9, 3, 2, 3))
#: Bytes sent and bytes received.
SENT, RECEIVED = COLOURS[0], COLOURS[1]
#: The two colours of the stripes that mark a reduction over all ranks.
STRIPES = ("#505050", "#7c7c7c")

#: Operations whose result mixes all ranks, and those that hold one block per rank before or after.
REDUCING = frozenset({"reduce", "all_reduce", "reduce_scatter"})
ONE_BEFORE = frozenset({"gather", "all_gather"})
ONE_AFTER = frozenset({"scatter", "reduce_scatter"})

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


def dash(place: int) -> tuple[int, ...]:
    """The dashes of the line at ``place``: no two of thirty-two lines have both colour and dashes in common."""
    return DASHES[(place + place // len(COLOURS)) % len(DASHES)]


def kind_colours(kinds: Iterable[str]) -> dict[str, str]:
    """A colour for each kind of operation, in their order: ``send`` and ``recv`` have their own."""
    own = {"send": SENT, "recv": RECEIVED}
    others = [kind for kind in dict.fromkeys(kinds) if kind not in own]
    free = {kind: COLOURS[2 + place % (len(COLOURS) - 2)] for place, kind in enumerate(others)}
    return {kind: (own | free)[kind] for kind in dict.fromkeys(kinds)}


def group_colour(group: int) -> str:
    """The colour of a group by its number. From the ninth on colours come again, shifted, so that neighbours differ."""
    return COLOURS[(group + group // len(COLOURS)) % len(COLOURS)]


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


#: On logarithmic axes the lines between powers of ten are faint.
_TEN = "abs(log(datum.value) / LN10 - round(log(datum.value) / LN10)) < 1e-6"
_FAINT = {"condition": {"test": _TEN, "value": 1}, "value": 0.3}


@dataclass(frozen=True)
class Axis:
    """A field of the data and how it is drawn: ``title`` with its unit, logarithmic or not, a number or a category.

    Logarithmic axes and tooltips write 20,000 as 20k and 0.05 as 50m, which suits base units (bytes, seconds, FLOP);
    with ``plain`` they write 20,000 and 0.05, which suits days, dollars and shares.
    """

    field: str
    title: str
    log: bool = False
    category: bool = False
    plain: bool = False

    def channel(self, **more: Any) -> Spec:
        """The encoding of this field."""
        spec: Spec = {"field": self.field, "type": "nominal" if self.category else "quantitative", "title": self.title}
        if self.log:
            written = ",~r" if self.plain else "~s"
            spec |= {"scale": {"type": "log"}, "axis": {"format": written, "tickCount": 6, "gridOpacity": _FAINT}}
        return spec | more

    def hover(self) -> Spec:
        """A line of a tooltip."""
        written = {} if self.category else {"format": ",.3~r" if self.plain else ".3~s"}
        return {"field": self.field, "title": self.title} | written


def lanes(spans: Sequence[tuple[float, float]]) -> tuple[list[int], int]:
    """Spans of time that overlap go to separate lanes: the lane of each ``(start, end)``, and the number of lanes."""
    ends: list[float] = []
    places = [0] * len(spans)
    for index, (start, end) in sorted(enumerate(spans), key=lambda pair: pair[1][0]):
        free = next((lane for lane, last in enumerate(ends) if last <= start), len(ends))
        ends[free : free + 1] = [end]
        places[index] = free
    return places, max(1, len(ends))


def colour_of(field: str, names: Sequence[Any], colours: Sequence[str] = COLOURS, title: str | None = None) -> Spec:
    """A colour for each of ``names``, which are values of ``field``; more names than colours use them again."""
    scale = {"domain": list(names), "range": [colours[i % len(colours)] for i in range(len(names))]}
    return {"field": field, "type": "nominal", "title": title, "scale": scale} | _no_legend(names)


def dashes_of(field: str, names: Sequence[Any]) -> Spec:
    """Dashes for each of ``names``."""
    scale = {"domain": list(names), "range": [list(dash(i)) for i in range(len(names))]}
    return {"field": field, "type": "nominal", "title": None, "scale": scale} | _no_legend(names)


def _no_legend(names: Sequence[Any]) -> Spec:
    """A legend without names would make the chart infinitely large."""
    return {} if names else {"legend": None}


def distinct(rows: Iterable[Mapping[str, Any]], field: str) -> list[Any]:
    """The values of ``field`` in the order in which the rows come."""
    return list(dict.fromkeys(row[field] for row in rows))


def hover_of(rows: Sequence[Mapping[str, Any]], hidden: Iterable[str]) -> list[Spec]:
    """Every field of the rows but the ``hidden`` ones, as a tooltip."""
    fields = dict.fromkeys(field for row in rows for field in row)
    return [{"field": field} for field in fields if field not in set(hidden)]


def separate(field: str, title: str, rows: Sequence[Mapping[str, Any]]) -> Spec:
    """A channel of separate places: numbers in their order, names as they come."""
    numbers = all(isinstance(row[field], int | float) for row in rows)
    order: Spec = {} if numbers else {"sort": None}
    return {
        "field": field,
        "type": "ordinal",
        "title": title,
        "axis": {"labelAngle": 0, "labelOverlap": True, "ticks": False},
    } | order


def paint(value: Any, place: int) -> str:
    """The colour of a value: a ``#rrggbb`` is one, a number is a group's or a rank's, any other has its place's."""
    if isinstance(value, str) and value.startswith("#"):
        return value
    return group_colour(value if isinstance(value, int) else place)

"""Pipeline schedules as charts, as :mod:`rankzero.figures.schedules` draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from rankzero.charts.marks import COLOURS, Axis, Spec, colour_of, ink_on
from rankzero.charts.pictures.picture import Picture, finite, named, ranged
from rankzero.room import room
from rankzero.sim.schedules import NAMES, Kind, Times, parse_op, stages_of

#: The colour of each kind of operation.
KIND_COLOURS: dict[Kind, str] = {"F": COLOURS[0], "B": COLOURS[1], "I": COLOURS[1], "W": COLOURS[2]}
#: Width of a chart, on a phone too, and height of a row, pixels.
WIDTH, NARROW, ROW = 600, 280, 26


@dataclass(frozen=True)
class Bar:
    """One operation of a schedule: where its bar is, what it looks like, and its micro-batch where that fits.

    Attributes:
        kind: name of the kind of operation; with the chunk of the rank if that is not the first.
    """

    op: str
    rank: int
    start: float
    end: float
    kind: str
    colour: str
    label: str


def several(times: Times | Mapping[str, Times]) -> Mapping[str, Times]:
    """Schedules by name; a single one has the name ``""``."""
    many = any(isinstance(value, Mapping) for value in times.values())
    return cast("Mapping[str, Times]", times if many else {"": times})


def rows_of(charts: Mapping[str, Times], ranks: int | None) -> dict[str, int]:
    """The number of rows of each chart: ``ranks``, or one for every stage."""
    return {name: ranks or max(1, stages_of(chart)) for name, chart in charts.items()}


def span_of(charts: Mapping[str, Times]) -> float:
    """The time at which the last operation of all charts ends."""
    return max((end for chart in charts.values() for _, end in chart.values()), default=1.0)


def laid(times: Times, ranks: int, span: float) -> list[Bar]:
    """The bars of a schedule on an axis of time that ends at ``span``."""
    chunks = max(1, -(-stages_of(times) // ranks))
    result = []
    for op, (start, end) in times.items():
        stage, kind, microbatch = parse_op(op)
        label = str(microbatch) if end - start > room(0.012, 0.024) * span * len(str(microbatch)) else ""
        name, ground = _looks(kind, stage // ranks, chunks)
        result.append(Bar(op, stage % ranks, start, end, name, ground, label))
    return result


def _looks(kind: Kind, chunk: int, chunks: int) -> tuple[str, str]:
    """Name and colour of a kind of operation in a chunk: the first has the given colour, later ones are darker."""
    share = 1 - 0.5 * chunk / chunks
    parts = (int(KIND_COLOURS[kind][i : i + 2], 16) for i in (1, 3, 5))
    name = f"{NAMES[kind]}, chunk {chunk}" if chunk else NAMES[kind]
    return name, "#" + "".join(f"{round(part * share):02x}" for part in parts)


def kinds_of(charts: Mapping[str, Times]) -> list[Kind]:
    """The kinds of operations in the charts."""
    used = {parse_op(op)[1] for chart in charts.values() for op in chart}
    return [kind for kind in KIND_COLOURS if kind in used]


def said(charts: Mapping[str, Times], rows: Mapping[str, int], unit: str) -> str:
    """A sentence that says what the charts show."""
    sentences = []
    for name, chart in charts.items():
        end = max((end for _, end in chart.values()), default=0.0)
        operations, ranks = len(chart), rows[name]
        size = f"{operations} operation{'s' * (operations != 1)} on {ranks} rank{'s' * (ranks != 1)}"
        text = f"{size}, finished after {end:.4g} {unit}"
        sentences.append(f"{name}: {text}" if name else text)
    return "; ".join(sentences) + "."


def draw(times: Times | Mapping[str, Times], ranks: int | None = None, unit: str = "units of time") -> Picture:
    """A schedule as a chart; :func:`rankzero.figures.schedules.draw` says what the arguments mean."""
    charts = several(times)
    rows, span = rows_of(charts, ranks), span_of(charts)
    legend = {NAMES[kind]: KIND_COLOURS[kind] for kind in kinds_of(charts)}
    *_, last = charts
    views = []
    for name, chart in charts.items():
        time = ranged("start", f"time ({unit})" if name == last else "", (0.0, span * 1.005), grid=False)
        bars = laid(chart, rows[name], span)
        colours = legend | {bar.kind: bar.colour for bar in bars}
        paint = colour_of("kind", [*colours], [*colours.values()] or COLOURS)
        paint["legend"] = {"values": [*legend]} if legend and name == last else None
        views.append(_panel(name, bars, rows[name], time, paint))
    apart = {"scale": {"color": "independent"}}  # the shade of a chunk depends on the number of chunks
    stacked = {"vconcat": views, "spacing": 14, "resolve": apart}
    return Picture(stacked if len(views) > 1 else views[0], said(charts, rows, unit))


def _panel(title: str, bars: Sequence[Bar], ranks: int, time: Axis, paint: Spec) -> Spec:
    """One schedule: a row for each rank, a bar for each operation with its micro-batch."""
    lane = named("top", "rank", [str(rank) for rank in range(ranks)], (-0.5, ranks - 0.5), down=True)
    rows = [_row(bar) for bar in bars]
    sides = {"x": time.channel(), "x2": {"field": "end"}, "y": lane.channel(), "y2": {"field": "foot"}}
    told = {"tooltip": [{"field": field} for field in ("op", "kind", "rank", "start", "end")]}
    middle = {"x": time.channel(field="middle"), "y": lane.channel(field="rank")}
    ink = {"text": {"field": "label"}, "color": {"field": "ink", "type": "nominal", "scale": None}}
    return {
        "title": title,
        "width": room(WIDTH, NARROW),
        "height": ROW * ranks,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "currentColor", "strokeWidth": 0.5},
                "encoding": sides | told | {"color": paint},
            },
            {"mark": {"type": "text", "fontSize": 10}, "encoding": middle | ink},
        ],
        "resolve": {"scale": {"color": "independent"}},
    }


def _row(bar: Bar) -> Spec:
    ends = {"start": finite(bar.start), "end": finite(bar.end), "middle": finite((bar.start + bar.end) / 2)}
    return asdict(bar) | ends | {"top": bar.rank - 0.4, "foot": bar.rank + 0.4, "ink": ink_on(bar.colour)}

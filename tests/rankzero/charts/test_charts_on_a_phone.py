"""Charts on a phone: as wide as its column, titles and names in lines, views below each other."""

from __future__ import annotations

import json
import re

import pytest
import vl_convert

from rankzero import charts
from rankzero.charts import Axis
from rankzero.charts.pictures import plots, schedules
from rankzero.explore import VEGA_LITE
from rankzero.room import COLUMN, on_phone, phone, room

LONG = "what the reader can see in this chart, said in a sentence that is much too long for a phone"
NAMES = ("a ring that sends whole tensors", "two trees with a long name", "a star", "halving and doubling")
NUMBER, OTHER = Axis("x", LONG), Axis("y", "seconds")
POINTS = [{"x": x, "y": 10**x, "name": name} for x in (1, 5) for name in NAMES]
SPANS = [{"lane": name, "start": at, "end": at + 2, "kind": name} for at, name in enumerate(NAMES)]
CELLS = [
    {"column": column, "row": f"row {row}, a long name", "kind": row, "text": row}
    for column in range(16)
    for row in range(3)
]

KINDS = {
    "lines": lambda: charts.lines(POINTS, NUMBER, OTHER, by="name", title=LONG),
    "bars": lambda: charts.bars(POINTS, Axis("x", "step", category=True), OTHER, by="name", title=LONG),
    "lines under two titles": lambda: charts.lines(POINTS, NUMBER, OTHER, by="name") | {"title": [LONG, LONG]},
    "shares": lambda: charts.shares(POINTS, NUMBER, Axis("name", "plan", category=True), by="x", title=LONG),
    "stacks": lambda: charts.stacks(
        [{"x": x, "y": 1, "name": "a"} for x in range(40)], Axis("x", "rank", category=True), OTHER, by="name"
    ),
    "table": lambda: charts.table(
        CELLS, Axis("column", "column"), Axis("row", ""), colour="kind", label="text", tooltip=["kind"], title=LONG
    ),
    "timeline": lambda: charts.timeline(SPANS, NUMBER, Axis("lane", "lane"), title=LONG),
    "graph": lambda: charts.graph(
        [{"name": str(i), "x": i, "y": i % 3, "colour": i, "label": f"a label {i}"} for i in range(6)], [], title=LONG
    ),
    "beside": lambda: charts.beside(KINDS["lines"](), KINDS["lines"]()),
    "bars of two kinds": lambda: charts.below(
        KINDS["bars"](), charts.bars(POINTS[:3], Axis("name", "plan", category=True), OTHER, by="x")
    ),
    "own bars": lambda: plots.bars({name: {"part": 1.0} for name in NAMES}, y="seconds", alt="Bars.").view,
    "own schedule": lambda: schedules.draw({f"{s}F{m}": (s + m, s + m + 1) for s in range(3) for m in range(9)}).view,
}


def width(view) -> float:
    svg = vl_convert.vegalite_to_svg(json.dumps(charts.chart(view, "A chart.")), vl_version=VEGA_LITE)
    found = re.search(r'width="([\d.]+)"', svg)
    assert found
    return float(found[1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_fits_a_phone(kind):
    """Kills a chart of which a phone shows a part: shrunk to the column, its letters of ten pixels still have nine."""
    with phone():
        assert width(KINDS[kind]()) <= COLUMN / 0.9


def test_on_a_desk_nothing_changes():
    assert "hconcat" in charts.beside(KINDS["lines"](), KINDS["lines"]())
    assert KINDS["lines"]()["width"] == 460
    assert not on_phone()
    assert room("desk", "phone") == "desk"


def test_the_room_is_that_of_a_desk_again_after_a_failure():
    with pytest.raises(KeyError), phone():
        raise KeyError
    assert not on_phone()

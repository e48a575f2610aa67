"""Charts: blocks keep track of where they come from, specs are valid, colours are told apart."""

from __future__ import annotations

import ast
import itertools
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import vl_convert

from rankzero import charts, room
from rankzero.charts import COLOURS, Axis, Block, blocks, graphs, ink_on, marks, vega_lite
from rankzero.charts.ticks import short
from rankzero.explore import VEGA_LITE

WHITE, DARK = "#ffffff", "#14181e"  # the book's two pages

#: What the three kinds of colour blindness make of linear red, green, blue (Machado 2009, severity 1).
EYES = {
    "most": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> np.ndarray:
    """Linear red, green and blue of ``#rrggbb``."""
    part = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def oklab(rgb: np.ndarray) -> np.ndarray:
    """Where linear red, green and blue lie in a space in which distance is what people see (Ottosson 2020)."""
    cones = np.array([[0.41222, 0.53633, 0.05145], [0.2119, 0.6807, 0.1074], [0.08830, 0.28172, 0.62998]])
    axes = np.array([[0.21045, 0.79362, -0.00407], [1.978, -2.42859, 0.45059], [0.0259, 0.78277, -0.80868]])
    return axes @ np.cbrt(cones @ np.clip(rgb, 0, 1))


@pytest.mark.parametrize("eye", EYES)
def test_any_two_ranks_have_colours_that_are_told_apart(eye):
    seen = [oklab(np.array(EYES[eye]) @ linear(colour)) for colour in COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 0.09


@pytest.mark.parametrize("page", [WHITE, DARK])
def test_colours_stand_out_on_both_pages(page):
    assert min(contrast(colour, page) for colour in COLOURS) > 2.9


@pytest.mark.parametrize("colour", [*COLOURS, *charts.STRIPES])
def test_text_reads_on_every_colour(colour):
    ink = {"black": "#000000", "white": "#ffffff"}[ink_on(colour)]
    assert contrast(ink, colour) > 4


def test_a_moved_block_keeps_its_origin_and_a_sum_has_none():
    before = [[10, 11], [20, 21]]
    assert [b.origin for b in blocks("all_to_all", before, [[10, 20], [11, 21]])[1]] == [0, 1, 0, 1]
    assert [b.origin for b in blocks("all_reduce", before, [[30, 32], [30, 32]])[1]] == [None] * 4


def test_a_single_block_stands_at_its_owners_place():
    """Kills the picture in which gather starts with a column."""
    before, after = blocks("gather", [[10], [21]], [None, [10, 21]])
    assert [(b.rank, b.place) for b in before] == [(0, 0), (1, 1)]
    assert [(b.rank, b.place) for b in after] == [(1, 0), (1, 1)]
    assert [b.place for b in blocks("scatter", [[10, 11], None], [[10], [11]])[1]] == [0, 1]


@pytest.mark.parametrize(("value", "label"), [(104.0, "104"), (3.125, "3.125"), (4.03e12, "4e12"), (0.0, "0")])
def test_labels_are_short(value, label):
    assert Block(0, 0, value, None).label == label


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (450e9, "450G"),
        (5e-6, "5µ"),
        (999_600, "1M"),
        (999.7e6, "1G"),
        (9999.6, "10k"),
        (0.0009999, "1m"),
        (0.25, "0.25"),
    ],
)
def test_numbers_are_short(value, said):
    """Kills a rounding that does not reach the next prefix."""
    assert short(value) == said


def test_every_builder_gives_a_chart_that_the_grammar_accepts():
    """The page draws with version 6 of the grammar, and JupyterLab with version 5: the drawing is the same."""
    rows = [{"x": x, "y": x * x, "kind": kind} for kind in ("a", "b") for x in (1, 10, 100)]
    log = Axis("x", "x (s)", log=True), Axis("y", "y (s)", log=True)
    name, number = Axis("x", "x", category=True), Axis("y", "y (%)")
    cells = [Block(0, 0, 1.0, 0), Block(1, 1, 2.0, None)]
    spec = charts.chart(
        charts.below(
            charts.beside(charts.lines(rows, *log, by="kind", mark=5), charts.grid(cells, 2, "before")),
            charts.bars(rows, name, number, by="kind"),
            charts.shares(rows, number, name, by="kind"),
        ),
        "A sentence.",
    )
    svg = vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)
    assert "y (%)" in svg
    assert "currentColor" in svg
    assert "linearGradient" in svg
    assert texts(ET.fromstring(vl_convert.vegalite_to_svg(spec, vl_version="5.21"))) == texts(ET.fromstring(svg))


NUMBER, TIME = Axis("x", "x"), Axis("t", "time (ms)")
NAMES = Axis("x", "x", category=True)


def drawn(view: dict) -> ET.Element:
    """The chart as the grammar draws it; the drawing is as large as a page, not infinite."""
    spec = charts.chart(view, "A sentence.")
    svg = ET.fromstring(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE))
    assert 0 < float(svg.get("width")) < 1000
    assert 0 < float(svg.get("height")) < 1000
    return svg


def texts(svg: ET.Element) -> list[str]:
    return [text.text or "" for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def shapes(svg: ET.Element, role: str) -> list[ET.Element]:
    """What the drawing holds of one kind, ``rule mark`` say, without invisible shapes."""
    found = (element for element in svg.iter() if element.get("aria-roledescription") == role)
    return [element for element in found if element.get("opacity") != "0"]


def edge(one: dict, other: dict, kind: str = "", **more) -> dict:
    return {"x": one["x"], "y": one["y"], "x2": other["x"], "y2": other["y"], "kind": kind} | more


def nodes(count: int, **fields) -> list[dict]:
    return [{"name": f"rank {r}", "x": r, "y": r % 3, "colour": r, "label": str(r)} | fields for r in range(count)]


def test_plain_axes_have_no_prefixes():
    rows = [{"x": x, "t": 0.01 * x, "way": "a"} for x in (1, 100_000)]
    plain = [Axis(field, field, log=True, plain=True) for field in ("x", "t")]
    found = texts(drawn(charts.lines(rows, *plain, by="way")))
    assert {"10,000", "0.1"} <= set(found)
    assert not {"10k", "100m"} & set(found)


def test_points_and_bands_take_the_colour_of_their_line_and_leave_the_legend_alone():
    rows = [{"x": x, "t": x, "way": way} for way in ("ring", "tree") for x in (1, 10)]
    points, bands = [{"x": 5, "t": 4, "way": "tree"}], [{"way": "tree", "start": 1, "end": 3}]
    svg = drawn(charts.lines(rows, NUMBER, TIME, by="way", points=points, bands=bands, mark=2))
    assert [shape.get("fill") for shape in shapes(svg, "point")] == [COLOURS[1]]
    assert [shape.get("fill") for shape in shapes(svg, "rect mark")] == [COLOURS[1]]
    assert [line.get("stroke") for line in shapes(svg, "line mark")] == list(COLOURS[:2])
    assert [text for text in texts(svg) if text in ("ring", "tree")] == ["ring", "tree"]


def test_points_without_a_line_stand_in_the_legend_as_points():
    rows = [{"x": x, "t": x, "way": "model"} for x in (1, 10)]
    svg = drawn(charts.lines(rows, NUMBER, TIME, by="way", points=[{"x": 5, "t": 4, "way": "measured"}]))
    assert [text for text in texts(svg) if text in ("model", "measured")] == ["model", "measured"]
    assert [shape.get("fill") for shape in shapes(svg, "point")] == [COLOURS[1]]


def test_many_lines_are_told_apart():
    """Kills a fixed list of four dashes: with nine lines two would have colour and dashes in common."""
    rows = [{"x": x, "t": x * n, "way": f"way {n}"} for n in range(20) for x in (1, 2)]
    svg = drawn(charts.lines(rows, NUMBER, TIME, by="way"))
    looks = {(line.get("stroke"), line.get("stroke-dasharray")) for line in shapes(svg, "line mark")}
    assert len(looks) == 20


def test_a_table_says_what_its_cells_say():
    cells = [{"x": x, "y": y, "group": 3 * y + x, "rank": 10 * x + y, "more": "m"} for y in range(3) for x in range(2)]
    svg = drawn(charts.table(cells, NUMBER, Axis("y", "node"), colour="group", label="rank", tooltip=["more"]))
    assert {"0", "1", "2", "10", "11", "12", "node"} <= set(texts(svg))
    fills = [shape.get("fill") for shape in shapes(svg, "rect mark")]
    assert fills == [marks.group_colour(cell["group"]) for cell in cells]


def test_a_table_has_a_legend_if_its_colours_have_names():
    cells = [{"x": x, "y": 0, "state": state, "text": ""} for x, state in enumerate(["waits", None, "done"])]
    arguments = {"colour": "state", "label": "text", "tooltip": ["x"]}
    named = drawn(charts.table(cells, NUMBER, Axis("y", "y"), names=["moves", "waits", "done"], **arguments))
    assert [text for text in texts(named) if text in ("moves", "waits", "done")] == ["moves", "waits", "done"]
    quiet = [shape.get("fill") for shape in shapes(named, "rect mark")][1]
    assert quiet not in COLOURS
    assert "waits" not in texts(drawn(charts.table(cells, NUMBER, Axis("y", "y"), **arguments)))


def test_a_large_table_stays_on_the_page():
    cells = [{"x": r % 8, "y": r // 8, "group": r, "rank": r} for r in range(1024)]
    drawn(charts.table(cells, NUMBER, Axis("y", "node"), colour="group", label="rank", tooltip=["rank"]))


def test_groups_that_lie_side_by_side_have_different_colours():
    """Kills plain repetition: on nodes of 8 devices group 8 would lie under group 0 in its colour."""
    assert all(marks.group_colour(g) != marks.group_colour(g + 8) for g in range(56))
    assert all(marks.group_colour(g) == COLOURS[g] for g in range(8))


def test_a_graph_draws_an_arrow_for_each_edge_and_a_disc_for_each_node():
    five = nodes(5)
    edges = [
        edge(five[0], five[1], "send"),
        edge(five[1], five[0], "recv"),
        edge(five[2], five[3], "send", arrow=False),
    ]
    svg = drawn(charts.graph(five, edges, title="Who waits"))
    assert [shape.get("fill") for shape in shapes(svg, "circle")] == list(COLOURS[:5])
    lines, heads = shapes(svg, "rule mark"), shapes(svg, "point")
    assert [line.get("stroke") for line in lines] == [charts.SENT, charts.RECEIVED, charts.SENT]
    assert [head.get("fill") for head in heads] == [charts.SENT, charts.RECEIVED]
    assert {"send", "recv", "Who waits", "4"} <= set(texts(svg))


def test_an_arrow_ends_at_the_rim_of_its_node():
    """Kills arrows whose heads lie under the nodes."""
    two = nodes(2, y=0)
    spec = charts.graph(two, [edge(two[0], two[1])])
    line, _, disc = (layer["data"]["values"] for layer in spec["layer"][:3])
    radius = spec["layer"][2]["mark"]["size"] ** 0.5 / 2
    assert line[0]["px"] == pytest.approx(disc[0]["px"] + radius)
    assert disc[1]["px"] - radius - 8 < line[0]["hx"] < disc[1]["px"] - radius
    assert line[0]["angle"] == pytest.approx(90)


def test_opposite_edges_do_not_lie_on_each_other():
    two = nodes(2, y=0)
    rows = charts.graph(two, [edge(*two), edge(*reversed(two))])["layer"][0]["data"]["values"]
    assert abs(rows[0]["py"] - rows[1]["py"]) > 8


def test_words_as_colours_have_a_legend_and_long_labels_stand_beneath():
    rows = nodes(2, colour="leaf", label="stage 3")
    svg = drawn(charts.graph(rows, []))
    assert {"leaf", "stage 3"} <= set(texts(svg))


def test_named_colours_are_the_same_in_every_graph():
    """Kills colours by order of appearance: two trees side by side would swap leaves and inner ranks."""
    one, other = (
        [shape.get("fill") for shape in shapes(drawn(charts.graph(rows, [], names=["inner", "leaf"])), "circle")]
        for rows in (
            [*nodes(1, colour="leaf"), *nodes(1, colour="inner", x=9)],
            [*nodes(1, colour="inner"), *nodes(1, colour="leaf", x=9)],
        )
    )
    assert one == other[::-1]
    assert one[0] != one[1]


@pytest.mark.parametrize("count", [0, 1, 2, 64])
def test_a_graph_of_any_size_fits_the_page(count):
    rows = nodes(count)
    svg = drawn(charts.graph(rows, [edge(a, b) for a, b in itertools.pairwise(rows)]))
    assert len(shapes(svg, "circle")) == count


def bar(lane: object, start: float, end: float, kind: str, **more) -> dict:
    return {"lane": lane, "start": start, "end": end, "kind": kind} | more


def test_bars_that_overlap_in_time_have_rows_of_their_own():
    """Kills a receive that hides the send at the same time."""
    rows = [bar(0, 0, 2, "send"), bar(0, 1, 3, "recv"), bar(1, 0, 1, "recv")]
    data = charts.timeline(rows, TIME, Axis("lane", "rank"))["data"]["values"]
    assert [row["place"] for row in data] == [0, 1, 1]
    alone = charts.timeline([bar(0, 0, 1, "send"), bar(0, 1, 3, "recv")], TIME, Axis("lane", "rank"))
    assert [row["place"] for row in alone["data"]["values"]] == [0, 0]
    same = charts.timeline([bar(0, 0, 2, "send"), bar(0, 1, 3, "send")], TIME, Axis("lane", "rank"))
    assert [row["place"] for row in same["data"]["values"]] == [0, 1]


def test_a_timeline_shows_labels_where_they_fit():
    rows = [bar("stage 0", 0, 10, "forward", label="forward"), bar("stage 1", 10, 10.1, "forward", label="small")]
    found = texts(drawn(charts.timeline(rows, TIME, Axis("lane", "stage"))))
    assert "small" not in found
    assert found.count("forward") == 2  # in the bar and in the legend
    assert {"stage 0", "stage 1"} <= set(found)


def test_labels_fit_on_an_axis_that_goes_on_beyond_the_bars():
    """Kills labels that run into one another in the shorter of two runs that are drawn on one axis."""
    rows = [bar(0, start, start + 1, "run", label="31") for start in range(10)]
    long = Axis("start", "time", settings={"scale": {"domain": [0, 1000]}})
    shown = [charts.timeline(rows, axis, Axis("lane", "slot"))["data"]["values"] for axis in (TIME, long)]
    assert [{row["text"] for row in data} for data in shown] == [{"31"}, {""}]


def test_stacks_stand_on_each_other():
    rows = [{"x": plan, "part": part, "t": t} for plan, part, t in (("b", "in", 2), ("b", "out", 3), ("a", "out", 4))]
    spec = charts.stacks(rows, NAMES, TIME, by="part", mark=4.5)
    svg = drawn(spec)
    assert [shape.get("fill") for shape in shapes(svg, "bar")] == [COLOURS[0], COLOURS[1], COLOURS[1]]
    assert [text for text in texts(svg) if text in ("a", "b")] == ["b", "a"]
    assert len(shapes(svg, "rule mark")) == 1


def test_every_mark_has_a_tooltip():
    five = nodes(5, extra="what it does")
    rows = [{"x": 1, "t": 1, "way": "w"}]
    cells = [{"x": 0, "y": 0, "c": 0}]
    views = [
        charts.lines(rows, NUMBER, TIME, by="way", mark=1, points=rows, bands=[{"way": "w", "start": 0, "end": 1}]),
        charts.table(cells, NUMBER, Axis("y", "y"), colour="c", label="c", tooltip=["c"]),
        charts.graph(five, [edge(five[0], five[1], who="rank 0")]),
        charts.timeline([bar(0, 0, 1, "send", chunk=3)], TIME, Axis("lane", "rank")),
        charts.stacks(rows, NUMBER, TIME, by="way", mark=1),
    ]
    for view in views:
        for layer in view["layer"]:
            assert (view.get("encoding", {}) | layer["encoding"])["tooltip"], layer["mark"]
    assert {"field": "extra"} in views[2]["layer"][2]["encoding"]["tooltip"]
    assert {"field": "chunk"} in views[3]["encoding"]["tooltip"]


def test_charts_without_rows_are_empty_charts():
    for view in (
        charts.lines([], NUMBER, TIME, by="way"),
        charts.table([], NUMBER, TIME, colour="c", label="l", tooltip=["x"]),
        charts.graph([], []),
        charts.timeline([], TIME, NUMBER),
        charts.stacks([], NUMBER, TIME, by="part"),
    ):
        drawn(view)


@pytest.mark.parametrize("module", [charts, graphs, marks, vega_lite, room])
def test_only_the_standard_library_is_imported(module):
    """The browser has nothing else."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    found |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    own = {name for name in found if name.startswith("rankzero.charts.")} | {"rankzero.room"}
    assert found - own <= set(sys.stdlib_module_names) | {"collections.abc"}

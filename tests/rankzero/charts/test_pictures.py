"""Pictures as charts: each shows what the figure of the same name shows, for given data and for the cells of pages."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import math
from typing import Any

import nbformat
import pytest
import vl_convert
from matplotlib.colors import to_hex

from rankzero import figures
from rankzero.charts import pictures
from rankzero.explore import VEGA_LITE
from rankzero.figures.picture import INK
from tools import own_runs
from tools.build_book import notebooks

SIZES = [2.0**power for power in range(3, 20)]
TIMES = {"0F0": (0, 1), "1F0": (1, 2), "1I0": (2, 4), "0B0": (4, 6), "1W0": (4, 4.5), "2F12": (2, 2.05)}
NAMES = {f"a name that needs room, {n}": {"one": 10.0**n, "two": 3.0} for n in range(3)}

CURVES = {
    "plain": (({"a": [(0, 1), (2, 3)], "b": [(0, -4)]}, {"b": [(1, 1)], "c": [(2, 2)]}), {"rules": {"here": 1.5}}),
    "logarithmic": (({"fit": [(s, 5e-6 + s / 50e9) for s in SIZES]}, {"fit": [(8, 1e-5)]}), {"log": "xy"}),
    "one value": (({"same": [(1, 0.5), (2, 0.5)]},), {}),
}
BARS = {
    "side by side": {"groups": {"loop": {"one": 0.2, "two": 0.4}, "rest": {"two": 0.3}}},
    "stacked": {"groups": {"plan": {"in": 77.8, "out": 87.5}, "ring": {"out": 98.4}}, "stacked": True},
    "lying": {"groups": NAMES},
    "lying and stacked": {"groups": NAMES, "stacked": True},
    "logarithmic": {"groups": {"a": {"x": 3e9}, "b": {"x": 2e12}}, "log": True},
}
SCHEDULES = {
    "one": ((TIMES,), {}),
    "chunks": (({"plain": TIMES, "on two ranks": {**TIMES, "3F0": (3, 4)}},), {"ranks": 2, "unit": "ms"}),
    "none": (({},), {}),
}


def views(spec: dict) -> list[dict]:
    return spec.get("vconcat", [spec])


def layers(view: dict, mark: str) -> list[dict]:
    """The visible layers of one kind of mark, each with its data and its encoding."""
    marks = [(one["mark"] if isinstance(one["mark"], dict) else {"type": one["mark"]}, one) for one in view["layer"]]
    found = [one for kind, one in marks if kind["type"] == mark and kind.get("opacity") != 0]
    return [{"data": one.get("data", view.get("data"))["values"], **one["encoding"]} for one in found]


def colour(channel: dict, row: dict) -> str:
    return dict(zip(channel["scale"]["domain"], channel["scale"]["range"], strict=True))[row[channel["field"]]]


def nine(*values: float) -> tuple[float, ...]:
    """Numbers with nine digits: sums are made in another order."""
    return tuple(float(f"{value:.9g}") for value in values)


def chart_bars(view: dict) -> list:
    """Ends and colour of every bar."""
    (layer,) = layers(view, "rect")
    sides = [[layer[side]["field"] for side in (axis, f"{axis}2")] for axis in "xy"]
    spans = [[end for side in sides for end in sorted(row[field] for field in side)] for row in layer["data"]]
    return [(nine(*span), colour(layer["color"], row)) for span, row in zip(spans, layer["data"], strict=True)]


def figure_bars(axes) -> list:
    """Ends and colour of every bar, as far as it is seen: on a logarithmic axis it comes from 0, out of sight."""
    logarithmic = (getattr(axes, f"get_{side}scale")() == "log" for side in "xy")
    ends = (getattr(axes, f"get_{side}lim")()[0] for side in "xy")
    left, bottom = (end if log else -math.inf for end, log in zip(ends, logarithmic, strict=True))
    boxes = [(patch.get_bbox(), to_hex(patch.get_facecolor())) for patch in axes.patches]
    return [(nine(max(box.x0, left), box.x1, max(box.y0, bottom), box.y1), ground) for box, ground in boxes]


def chart_points(view: dict) -> list:
    """Colour and points of every curve and of every set of dots."""
    found: dict = {}
    for mark, channel in (("line", "color"), ("point", "fill")):
        for layer in layers(view, mark):
            for row in layer["data"]:
                found.setdefault((mark, colour(layer[channel], row)), []).append((row["x"], row["y"]))
    return sorted((*key, points) for key, points in found.items())


def figure_points(axes) -> list:
    lines = [line for line in axes.lines if to_hex(line.get_color()) != INK]  # without rules
    kinds = [("point" if line.get_linestyle() == "None" else "line", to_hex(line.get_color()), line) for line in lines]
    return sorted(
        (kind, ground, [*zip(line.get_xdata(), line.get_ydata(), strict=True)]) for kind, ground, line in kinds
    )


def same(chart, figure) -> None:
    """Assert that a chart and a figure have the same sentence, panels, titles, axes, points, bars and colours."""
    spec = chart.spec()
    assert spec["description"] == figure.alt
    for view, axes in zip(views(spec), figure.axes, strict=True):
        curves = layers(view, "line")
        assert chart_points(view) == figure_points(axes)
        assert (chart_bars(view) if layers(view, "rect") else []) == figure_bars(axes)
        assert view["title"] == axes.get_title()
        for side, channel in ((side, (curves or layers(view, "rect"))[0][side]) for side in "xy"):
            assert channel["title"] == getattr(axes, f"get_{side}label")()
            assert channel["scale"].get("type", "linear") == getattr(axes, f"get_{side}scale")()
            if curves:
                assert nine(*channel["scale"]["domain"]) == nine(*getattr(axes, f"get_{side}lim")())


def texts(chart) -> str:
    return vl_convert.vegalite_to_svg(chart.spec(), vl_version=VEGA_LITE)


LABELS = {"x": "x (s)", "y": "y (%)", "alt": "A sentence."}


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("given", "more"), CURVES.values(), ids=CURVES)
def test_curves(given, more):
    same(pictures.plots.curves(*given, **LABELS, **more), figures.plots.curves(*given, **LABELS, **more))


@pytest.mark.parametrize("given", BARS.values(), ids=BARS)
def test_bars(given):
    """Kills bars that are stacked in another order, and a part whose colour depends on its group."""
    more = {"y": "time (s)", "alt": "A sentence."}
    chart, figure = (package.plots.bars(**given, **more) for package in (pictures, figures))
    if given.get("log"):  # the chart's bars begin where the axis does
        assert [span[:2] for span, _ in chart_bars(chart.view)] == [span[:2] for span, _ in figure_bars(figure.axes[0])]
        assert chart_bars(chart.view)[0][0][2] == figure.axes[0].get_ylim()[0]
    else:
        same(chart, figure)


@pytest.mark.parametrize(("given", "more"), SCHEDULES.values(), ids=SCHEDULES)
def test_schedules(given, more):
    """Kills a chunk whose shade comes from another schedule in the picture."""
    same(pictures.schedules.draw(*given, **more), figures.schedules.draw(*given, **more))


def test_what_is_written_is_drawn():
    """The grammar accepts each kind; ticks, labels of bars, rules and micro-batches stand in the drawing."""
    curves = texts(pictures.plots.curves(*CURVES["plain"][0], **LABELS, **CURVES["plain"][1]))
    assert all(f">{text}<" in curves for text in ("x (s)", "y (%)", "a", "b", "c", "here", "0.5"))
    logarithmic = texts(pictures.plots.curves(*CURVES["logarithmic"][0], **LABELS, log="xy"))
    assert all(f">{text}<" in logarithmic for text in ("8", "128", "10\N{MICRO SIGN}"))
    lying = texts(pictures.plots.bars(NAMES, y="time (s)", alt="A."))
    assert all(f">{text}<" in lying for text in ("a name that needs room, 2", "time (s)", "100", "one", "two"))
    chunks = texts(pictures.schedules.draw(*SCHEDULES["chunks"][0], ranks=2, unit="ms"))
    assert all(f">{text}<" in chunks for text in ("on two ranks", "rank", "time (ms)", "0", "forward"))
    assert ">12<" not in chunks


def test_a_number_that_cannot_be_drawn_leaves_a_gap():
    """Kills NaN in the JSON that the page reads."""
    chart = pictures.plots.curves({"hers": [(0, 1.0), (1, math.nan), (2, math.inf), (3, 2)]}, **LABELS)
    assert [y for _, y in chart_points(chart.view)[0][2]] == [1.0, None, None, 2.0]
    json.dumps(chart.spec(), allow_nan=False)
    texts(chart)


def test_what_a_figure_refuses_a_chart_refuses():
    for package in (pictures, figures):
        with pytest.raises(ValueError, match="log must be"):
            package.plots.curves({"a": [(1, 1)]}, **LABELS, log="yx")
        with pytest.raises(ValueError, match="must be positive on a logarithmic axis"):
            package.plots.curves({"a": [(0, 1), (2, 3)]}, **LABELS, log="x")
        with pytest.raises(ValueError, match="stacked"):
            package.plots.bars({"a": {"b": 1}}, y="y", stacked=True, log=True, alt="A.")


@pytest.mark.parametrize("path", sorted(own_runs.CHARTS))
def test_the_signatures_are_those_of_the_figures(path):
    """Kills an argument that a page may give to a figure and that a chart does not know."""
    module, name = path.split(".")
    chart, figure = (
        getattr(importlib.import_module(f"{package}.{module}"), name)
        for package in (own_runs.CHARTING, own_runs.DRAWING)
    )
    found = [
        [(one.name, one.kind, one.default) for one in inspect.signature(draw).parameters.values()]
        for draw in (chart, figure)
    ]
    assert found[0] == found[1]


def shown(cell: dict) -> Any:
    """What a cell ends in, with the functions of the course."""
    namespace = {name: getattr(importlib.import_module(module), name) for name, module in cell["functions"].items()}
    *most, last = ast.parse(f"{cell['before']}\n{cell['code']}").body
    exec(compile(ast.Module(most, []), "<cell>", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)


def charted() -> dict[str, dict]:
    """The cells of all pages that end in a chart."""
    found = {}
    for path in notebooks():
        programs = own_runs.programs(nbformat.read(path, as_version=4).cells)
        found |= {f"{path.stem}, {name}": one.data() for name, one in programs.items() if one.chart}
    return found


@pytest.mark.proof(part="runs")
def test_cells_of_pages():
    """With the course's functions, what a cell shows in the page is what it shows in the notebook."""
    cells = charted()
    assert len(cells) >= 12
    for cell in cells.values():
        before = cell["before"].replace("rankzero.charts import pictures", "rankzero import figures")
        same(shown(cell), shown(cell | {"before": before.replace(own_runs.CHARTING, own_runs.DRAWING)}))

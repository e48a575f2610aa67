"""Pictures on a phone: drawn a second time in its column, with panels below each other and nothing cut."""

from __future__ import annotations

import re

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rankzero import figures
from rankzero.events import Event, Ledger
from rankzero.figures import diagrams, machines, plots, schedules
from rankzero.figures.picture import Picture, panels, styled
from rankzero.room import COLUMN, phone

pytestmark = pytest.mark.xdist_group("figures")

LONG = "a title that says in a whole sentence what the reader can see in this picture"
STATES = ([[1, 2, 3, 4]] * 4, [[1, 2, 3, 4]] * 4)
RUNS = {name: Ledger([Event(0, "send", (1,), 8, 0, 0.0, 1.0)], 2) for name in ("one", "two", "three", "four")}

WIDE = {
    "four panels": lambda: figures.block_picture({"gather": STATES, "scatter": STATES, "all_gather": STATES}),
    "a curve": lambda: plots.curves({LONG: [(1, 2), (3, 4)]}, x=LONG, y="seconds", alt="A curve."),
    "bars": lambda: plots.bars({f"a long name {i}": {"part": i, "rest": 1} for i in range(1, 6)}, y="GB", alt="Bars."),
    "a grid": lambda: machines.rank_grid({"dp": 4, "tp": 8}, 8, "tp"),
    "books": lambda: figures.ledger_bars(RUNS),
    "trees": lambda: diagrams.trees([[None, 0, 0, 1, 1, 2, 2, 3], [1, None, 1, 2, 2, 3, 3, 4]], [1.0] * 8, "GB"),
    "a schedule": lambda: schedules.draw({f"{s}F{m}": (s + m, s + m + 1) for s in range(3) for m in range(9)}),
}

#: Drawn twice in the gate; the others beside it. What lies outside is looked for in all of them.
DAILY = ("a curve", "a grid", "a schedule")
PROOF = pytest.mark.proof(part="runs")


def drawings(picture: Picture) -> list[str]:
    return re.findall(r"<svg .*?</svg>", picture.html(), re.DOTALL)


def pixels(drawing: str) -> dict[str, float]:
    found = re.search(r'style="width:(\d+)px;max-width:100%;min-width:(\d+)px', drawing)
    assert found
    return {"width": float(found[1]), "least": float(found[2])}


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    "draw",
    [pytest.param(draw, id=name, marks=() if name in DAILY else PROOF) for name, draw in WIDE.items()],
)
def test_a_wide_picture_is_drawn_again_for_a_phone(draw, monkeypatch):
    """Kills a picture of which a phone shows the left half, and a second drawing in a notebook."""
    assert len(drawings(draw())) == 1
    monkeypatch.setenv("RANKZERO_BOOK", "1")
    wide, narrow = drawings(draw())
    assert pixels(wide)["least"] > COLUMN >= pixels(narrow)["width"] >= pixels(narrow)["least"]
    names = [re.search(r'aria-label="([^"]*)"', drawing) for drawing in (wide, narrow)]
    assert len({name[1] for name in names if name}) == 1
    assert "display:none" in narrow
    assert "display:none" not in wide
    assert not set(re.findall(r'id="(p\w+)"', wide)) & set(re.findall(r'id="(p\w+)"', narrow))


@pytest.mark.parametrize("draw", WIDE.values(), ids=WIDE)
def test_nothing_lies_outside_on_a_phone(draw):
    """Kills a title, a label or a legend that is cut at the edge of the drawing."""
    with phone():
        picture = draw()
    box = picture.get_tightbbox(FigureCanvasAgg(picture).get_renderer()).extents
    assert box[0] >= -0.03
    assert box[2] <= picture.get_figwidth() + 0.03


def test_titles_and_labels_are_broken_between_words():
    """Kills a label that is cut at the edge, and the name of an operation that is cut in two."""
    state = [[1, 2], [3, 4]]
    with phone():
        (axes,) = plots.curves({"a": [(1, 2), (3, 4)]}, x=LONG, y="seconds", alt="A curve.").axes
        panel, _ = figures.block_picture({"reduce_scatter_tensor": (state, state)}).axes
    assert axes.get_xlabel().split() == LONG.split()
    assert len(axes.get_xlabel().splitlines()) > 1
    assert panel.get_title(loc="left") == "reduce_scatter_tensor"


def test_a_unit_stays_with_its_number():
    """Kills a row's name whose last line is a lone "s"."""
    with phone():
        names = [f"TP{ranks} DP8 ZeRO-2, 59 s" for ranks in (2, 4, 8)]
        (axes,) = plots.bars({name: {"part": 1} for name in names}, y="GB", alt="Bars.", stacked=True).axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    assert rows == [f"TP{ranks} DP8 ZeRO-2,\n59\N{NO-BREAK SPACE}s" for ranks in (2, 4, 8)]


@pytest.mark.proof(part="runs")
def test_names_of_a_legend_fit_in_the_columns_that_it_has():
    """Kills a legend whose columns are counted as if all of them were full."""
    picture = figures.block_picture({"all_reduce": STATES, "all_gather": STATES})
    with phone():
        narrow = figures.block_picture({"all_reduce": STATES, "all_gather": STATES})
    for drawn in (picture, narrow):
        box = drawn.legends[0].get_window_extent(FigureCanvasAgg(drawn).get_renderer())
        assert box.x0 >= 0
        assert box.x1 <= drawn.get_figwidth() * drawn.dpi


def test_a_wide_table_of_numbers_is_cut_in_parts():
    """Kills numbers that run into each other, and a column that is lost."""
    table = {"before": [10.5 * i for i in range(14)], "after": [-10.5 * i for i in range(14)]}
    with phone():
        narrow = figures.matrix(table, x="weight", y="", alt="Weights.")
    assert len(figures.matrix(table, x="weight", y="", alt="Weights.").axes) == 1
    shown = [[label.get_text() for label in axes.get_xticklabels()] for axes in narrow.axes]
    assert [name for part in shown for name in part] == [str(place) for place in range(14)]
    assert max(map(len, shown)) <= 6


def test_a_picture_that_fits_is_drawn_once(monkeypatch):
    monkeypatch.setenv("RANKZERO_BOOK", "1")
    assert len(drawings(machines.rank_grid({"dp": 2, "tp": 2}, 4, "tp"))) == 1


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("columns", "abreast"), [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3)])
def test_panels_stand_below_each_other(columns, abreast):
    """Kills panels that shrink until they hold nothing, and a row with a gap."""

    @styled
    def draw() -> Picture:
        picture, _ = panels(1, columns, (3.0 if columns == 1 else 3.4 if columns == 2 and abreast == 2 else 6.8, 2.0))
        return picture

    with phone():
        narrow = draw()
    grid = narrow.axes[0].get_subplotspec().get_gridspec()
    assert len(draw().axes) == len(narrow.axes) == columns
    assert (grid.ncols, grid.nrows * grid.ncols) == (abreast, columns)
    assert narrow.get_figheight() == pytest.approx(2.0 * columns / abreast)

"""Plots: what is drawn is what was given, names and ticks can be read, and nothing hides anything."""

from __future__ import annotations

import functools
import io
import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox

from rankzero.charts.marks import COLOURS
from rankzero.figures import plots
from rankzero.figures.label_placement import Box
from rankzero.figures.picture import INK, Picture

SIZES = [2**power for power in range(3, 25)]
B = 1e9
MODELS = {
    "Gopher": (280 * B, 300 * B),
    "GPT-3": (175 * B, 300 * B),
    "Chinchilla": (70 * B, 1400 * B),
    "Llama-2-7B": (6.7 * B, 2000 * B),
    "Llama-2-70B": (69 * B, 2000 * B),
    "Llama-3-8B": (8 * B, 15000 * B),
    "Llama-3.1-405B": (406 * B, 15600 * B),
}


def seconds(size: float) -> float:
    return 5e-6 + size / 50e9


def ping_pong() -> Picture:
    return plots.curves(
        {"fit": [(s, seconds(s)) for s in SIZES], "bandwidth alone": [(s, s / 50e9) for s in SIZES]},
        {"fit": [(s, 1.1 * seconds(s)) for s in SIZES], "another machine": [(8, 1e-3)]},
        x="message (bytes)",
        y="time (s)",
        log="xy",
        rules={"half of the bandwidth": 250e3, "a little more": 300e3, "far away": 100.0},
        alt="The time of a message is flat up to 250 kB.",
    )


def tokens() -> Picture:
    lines = {f"{ratio} per parameter": [(3 * B, 3 * B * ratio), (1e12, 1e12 * ratio)] for ratio in (1, 20, 100)}
    iso = {"1e24 FLOP": [(n, 1e24 / 6 / n) for n in (1e10, 3e10, 1e11, 1e12)]}
    return plots.labelled(MODELS, lines, x="parameters", y="tokens", log="xy", alt="One of 7 is optimal.", dashed=iso)


def levels(log: bool = True) -> Picture:
    values = {"H100 HBM3": 3.35e12, "NVLink 4": 450e9, "PCIe 5 x16": 63e9, "InfiniBand NDR": 50e9, "NVMe disk": 7e9}
    groups = {name: {f"level of {name.split()[0]}": value} for name, value in values.items()}
    return plots.bars(
        groups | {"100 Gb Ethernet, one port": {"Ethernet": 12.5e9}, "PCIe 6 x16": {"PCIe": 121e9}},
        y="bandwidth, one direction (bytes/s)",
        log=log,
        alt="The memory of a GPU is 479 times as fast as a disk.",
    )


def plans() -> Picture:
    groups = {"two levels": {"inside": 77.8, "across": 87.5}, "flat ring": {"across": 98.4}}
    return plots.bars(groups, y="time (ms)", stacked=True, alt="Two levels take 165.3 ms.")


def workers() -> Picture:
    groups = {"loop": {"one": 0.2, "two threads": 0.4}, "products": {"one": 0.3, "two threads": 0.31}}
    return plots.bars(groups, y="time (s)", alt="Two threads take 2 times as long.")


PICTURES = {draw.__name__: draw for draw in (ping_pong, tokens, levels, plans, workers)}
pytestmark = pytest.mark.xdist_group("plots")
#: Each is drawn once for the tests that look at it.
every_picture = pytest.mark.parametrize("draw", [*map(functools.cache, PICTURES.values())], ids=PICTURES)


def extents(picture: Picture) -> list[Bbox]:
    """Where the texts inside the panels stand, in pixels."""
    renderer = FigureCanvasAgg(picture).get_renderer()
    return [text.get_window_extent(renderer) for axes in picture.axes for text in axes.texts if text.get_text()]


def ticks(picture: Picture, axis: str) -> list[str]:
    """The numbers along an axis, as far as it is drawn."""
    low, high = sorted(getattr(picture.axes[0], f"get_{axis}lim")())
    labels = getattr(picture.axes[0], f"get_{axis}ticklabels")()
    places = getattr(picture.axes[0], f"get_{axis}ticks")()
    return [label.get_text() for label, place in zip(labels, places, strict=True) if low <= place <= high]


@pytest.mark.proof(part="runs")
@every_picture
def test_the_same_plot_gives_the_same_bytes(draw):
    """Kills labels that are placed anew, and elsewhere, each time."""
    first, second = draw.__wrapped__(), draw()
    assert first.html() == second.html()
    files = [io.BytesIO(), io.BytesIO()]
    for picture, file in zip((first, second), files, strict=True):
        picture.savefig(file, format="png", dpi=30)
    assert files[0].getvalue() == files[1].getvalue()


@every_picture
def test_a_plot_is_a_drawing_that_takes_the_pages_colour(draw):
    picture = draw()
    html = picture.html()
    svg = ET.fromstring(html).find("{*}svg")
    assert svg is not None
    assert svg.get("aria-label") == picture.alt
    assert "currentColor" in html
    assert INK not in html
    assert re.search(r'id="([^"]+)".* id="\1"', html, re.DOTALL) is None


@every_picture
def test_axes_carry_their_labels(draw):
    axes = draw().axes[0]
    assert axes.get_xlabel() or axes.get_ylabel()


@every_picture
def test_the_legend_lies_outside_the_data(draw):
    picture = draw()
    renderer = FigureCanvasAgg(picture).get_renderer()
    for legend in picture.legends:
        box = legend.get_window_extent(renderer)
        assert box.y1 <= picture.axes[0].get_window_extent().y0
        assert box.x0 >= 0
        assert box.x1 <= picture.bbox.width


@every_picture
def test_texts_do_not_hide_each_other(draw):
    for one, other in itertools.combinations(extents(draw()), 2):
        assert not one.padded(-1).overlaps(other.padded(-1))


@every_picture
def test_texts_stand_on_the_picture(draw):
    picture = draw()
    for box in extents(picture):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= picture.bbox.width
        assert box.y1 <= picture.bbox.height


def test_points_have_the_colour_of_their_curve():
    """Kills colours that are counted twice, once for curves and once for points."""
    fit, alone, measured, other = ping_pong().axes[0].get_lines()[:4]
    # lines come name by name: the fit and its points, the curve alone, the points alone
    assert [to_hex(line.get_color()) for line in (fit, alone)] == [COLOURS[0], COLOURS[0]]
    assert [to_hex(line.get_color()) for line in (measured, other)] == [COLOURS[1], COLOURS[2]]
    assert len(fit.get_xdata()) == len(SIZES)
    assert other.get_linestyle() == "None"


def test_curves_are_told_apart_without_colour():
    picture = plots.curves({f"{n}": [(0, n), (1, n)] for n in range(12)}, x="x", y="y", alt="A.")
    looks = {(line.get_color(), str(line._dash_pattern)) for line in picture.axes[0].get_lines()}
    assert len(looks) == 12


def test_a_point_does_not_lie_under_a_label():
    picture = tokens()
    spots = [picture.axes[0].transData.transform(point) for point in MODELS.values()]
    for box in extents(picture):
        assert not any(box.contains(*spot) for spot in spots)


def test_a_label_stands_near_its_point():
    picture = tokens()
    renderer = FigureCanvasAgg(picture).get_renderer()
    for text in picture.axes[0].texts:
        if text.get_text() in MODELS:
            x, y = picture.axes[0].transData.transform(MODELS[text.get_text()])
            box = text.get_window_extent(renderer)
            away = max(box.x0 - x, x - box.x1, 0), max(box.y0 - y, y - box.y1, 0)
            assert max(away) < 15 * picture.dpi / 72


def test_every_line_has_its_name():
    names = {text.get_text() for text in tokens().axes[0].texts}
    assert names == {*MODELS, "1 per parameter", "20 per parameter", "100 per parameter", "1e24 FLOP"}


@pytest.mark.proof(part="runs")
def test_powers_of_two_are_marked_by_powers_of_two():
    assert ticks(ping_pong(), "x")[:3] == ["8", "64", "512"]
    assert ticks(ping_pong(), "x")[-1] == "16Mi"
    ranks = plots.curves({"a": [(1, 1), (64, 2)]}, x="ranks", y="y", log="x", alt="A.")
    assert ticks(ranks, "x") == ["1", "2", "4", "8", "16", "32", "64"]


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1e3, 1e11, ["1k", "10k", "100k", "1M", "10M", "100M", "1G", "10G", "100G"]),
        (1e-6, 1e-1, ["1µ", "10µ", "100µ", "1m", "10m", "100m"]),
        (0.01, 50, ["0.01", "0.1", "1", "10"]),
        (3e9, 1e12, ["3G", "10G", "30G", "100G", "300G", "1T"]),
        (2, 20, ["2", "5", "10", "20"]),
    ],
)
def test_logarithmic_ticks_are_few_and_plain(low, high, labels):
    picture = plots.curves({"a": [(low * 1.0001, 1), (high, 2)]}, x="x", y="y", log="x", alt="A.")
    assert ticks(picture, "x") == labels


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (450e9, "450G"),
        (0.25, "0.25"),
        (5e-6, "5µ"),
        (1e6, "1M"),
        (12.5, "12.5"),
        (3e18, "3E"),
        (8000, "8000"),
    ],
)
def test_short_numbers(value, text):
    assert plots.short(value) == text


def test_rules_have_their_labels_above_the_data():
    picture = ping_pong()
    top = picture.axes[0].get_window_extent().y1
    assert len(extents(picture)) == 3
    assert all(box.y0 >= top for box in extents(picture))


def test_bars_are_as_long_as_their_values():
    assert [bar.get_height() for bar in workers().axes[0].patches] == [0.2, 0.4, 0.3, 0.31]
    lying = [bar.get_width() for bar in levels(log=False).axes[0].patches]
    assert lying == [3.35e12, 450e9, 63e9, 50e9, 7e9, 12.5e9, 121e9]


def test_stacked_bars_stand_on_each_other():
    found = [(bar.get_y(), bar.get_height()) for bar in plans().axes[0].patches]
    assert np.allclose(found, [(0, 77.8), (77.8, 87.5), (0, 98.4)])


def test_a_part_has_one_colour_in_all_groups():
    colours = [to_hex(bar.get_facecolor()) for bar in plans().axes[0].patches]
    assert colours == [COLOURS[0], COLOURS[1], COLOURS[1]]


def test_the_shortest_logarithmic_bar_can_be_seen():
    """Kills an axis that starts at the smallest value."""
    axes = levels().axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlim()[0] == 1e9
    assert ticks(levels(), "x") == ["1G", "10G", "100G", "1T"]


def test_bad_axes_are_refused():
    with pytest.raises(ValueError, match="log must be"):
        plots.curves({"a": [(1, 1)]}, x="x", y="y", log="yx", alt="A.")
    with pytest.raises(ValueError, match="must be positive on a logarithmic axis"):
        plots.curves({"a": [(0, 1), (2, 3)]}, x="x", y="y", log="x", alt="A.")
    with pytest.raises(ValueError, match="stacked"):
        plots.bars({"a": {"b": 1}}, y="y", stacked=True, log=True, alt="A.")


def test_boxes_share_their_overlap():
    one = Box(0, 0, 4, 2)
    assert one.area == 8
    assert one.shared(Box(3, 1, 9, 9)) == 1
    assert one.shared(Box(5, 0, 6, 2)) == 0


def test_a_triangle_has_its_shares_on_the_way_to_the_corners():
    """Kills shares that go to the wrong corner, and a corner that is written beside another."""
    ways = {"one": (1.0, 0.5, 0.0), "other": (0.2, 1.0, 1.0)}
    picture = plots.triangle(ways, ("speed", "cost", "truth"), alt="No way is best in all three.")
    (axes,) = picture.axes
    corners = {text.get_text(): np.array(text.get_position()) / 1.08 for text in axes.texts}
    drawn = [line.get_xydata() for line in axes.lines if line.get_linestyle() == "None"]
    for points, shares in zip(drawn, ways.values(), strict=True):
        for point, share, corner in zip(points, shares, corners.values(), strict=True):
            assert point == pytest.approx(share * corner)
    assert [text.get_text() for text in picture.legends[0].get_texts()] == [*ways]
    with pytest.raises(ValueError, match="share"):
        plots.triangle({"one": (1.1, 0, 0)}, ("a", "b", "c"), alt="Too much.")

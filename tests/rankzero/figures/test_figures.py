"""Figures: what is drawn is what is in the log, the same every time, and readable on any page."""

from __future__ import annotations

import functools
import io
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.text import Text

from rankzero import figures
from rankzero.charts.marks import kind_colours
from rankzero.events import Event, Ledger
from rankzero.figures.picture import ID, with_ids


@dataclass
class Run:
    events: list[Event] = field(default_factory=list)


def shift(ranks: int) -> Run:
    """Each rank sends 2 MB to the right while it receives from the left, then all meet in a barrier."""
    run = Run()
    for r in range(ranks):
        run.events += [
            Event(r, "send", ((r + 1) % ranks,), 2_000_000, 0, 0.001, 0.004),
            Event(r, "recv", ((r - 1) % ranks,), 0, 2_000_000, 0.002, 0.005),
            Event(r, "barrier", tuple(range(ranks)), 0, 0, 0.006, 0.008),
        ]
    return run


PICTURES = {
    "spacetime": lambda: figures.spacetime(shift(3)),
    "ledger_bars": lambda: figures.ledger_bars({"one": Ledger(shift(3).events, 3), "two": Ledger([], 3)}),
    "block_picture": lambda: figures.block_picture({"all_reduce": ([[1, 2], [3, 4]], [[4, 6], [4, 6]])}),
    "heat_map": lambda: figures.heat_map([[[1, 1], [1, 1]], [[2, 1], [1, 2]]]),
    "matrix": lambda: figures.matrix({"0": [1, 2], "1": [2, 1]}, x="sample", y="epoch", alt="Half are seen twice."),
    "routing": lambda: figures.routing([[1, 2], [3, 4]], "tokens"),
}
pytestmark = pytest.mark.xdist_group("figures")
#: Each is drawn once for the tests that look at it.
every_picture = pytest.mark.parametrize("draw", [*map(functools.cache, PICTURES.values())], ids=PICTURES)


def texts(picture: figures.Picture) -> list[str]:
    """Every text inside the panels."""
    return [text.get_text() for axes in picture.axes for text in axes.texts]


@pytest.mark.proof(part="runs")
@every_picture
def test_the_same_picture_gives_the_same_bytes(draw):
    """Kills dates in metadata, random ids, and a layout that moves when it is drawn again."""
    first, second = draw.__wrapped__(), draw()
    assert first.html() == second.html()
    files = [io.BytesIO(), io.BytesIO()]
    for picture, file in zip((first, second), files, strict=True):
        picture.savefig(file, format="png", dpi=30)
    assert files[0].getvalue() == files[1].getvalue()


def test_ids_depend_on_what_can_be_read_in_a_drawing():
    """Kills ids by the last digit of a number, which the layout does not always give alike, and ids that two share."""
    drawing = '<g clip-path="url(#{0})"/><use xlink:href="#{1}"/><path id="{1}"/><clipPath id="{0}"><rect x="{2}"/>'
    ids, others = ("p0123456789", "mabcdef0123"), ("p9876543210", "m3210fedcba")
    one, alike, another = (with_ids(drawing.format(*made)) for made in ((*ids, 1), (*others, 1), (*ids, 2)))
    assert one == alike
    assert len(set(re.findall(r'(?<=id=")[^"]*', one + another))) == 4
    assert not ID.search(one)


@every_picture
def test_a_picture_says_what_to_see_in_one_sentence(draw):
    picture = draw()
    assert re.fullmatch(r"[A-Z\d][^\n]+\.", picture.alt)
    svg = ET.fromstring(picture.html()).find("{*}svg")
    assert svg is not None
    assert (svg.get("role"), svg.get("aria-label")) == ("img", picture.alt)


@every_picture
def test_a_picture_takes_the_pages_colour_and_leaves_the_page_alone(draw):
    """Kills fixed dark text, and a style element that would reach every other drawing on the page."""
    html = draw().html()
    assert "currentColor" in html
    assert figures.INK not in html
    assert "<style" not in html
    assert "<image" not in html
    assert "max-width:100%" in html


@pytest.mark.proof(part="runs")
@every_picture
def test_no_text_is_smaller_than_nine_pixels(draw):
    """Kills a picture that shrinks on a phone until nobody can read it."""
    picture = draw()
    width, least = (float(re.search(rf"\b(?<!-){name}:(\d+)px", picture.html())[1]) for name in ("width", "min-width"))
    sizes = [text.get_fontsize() for text in picture.findobj(Text) if text.get_visible() and text.get_text().strip()]
    assert min(sizes, default=9) * 4 / 3 * least / width >= 8.98


@every_picture
def test_ids_occur_once_and_are_used(draw):
    html = draw().html()
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


@every_picture
def test_axes_are_labelled(draw):
    panels = [axes for axes in draw().axes if axes.axison]
    assert panels
    assert all(axes.get_xlabel() for axes in panels)
    assert panels[0].get_ylabel()


def test_a_notebook_gets_the_drawing_and_a_terminal_the_sentence(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda data, raw: shown.append((data, raw)))
    picture = PICTURES["routing"]()
    picture._ipython_display_()
    assert shown == [({"text/html": picture.html(), "text/plain": picture.alt}, True)]


def test_messages_between_two_ranks_are_matched_in_order():
    """Kills matching by time alone: here the second message is received before the first rank's other one."""
    sends = [Event(0, "send", (1,), 1, 0, 0.0, 0.1), Event(0, "send", (1,), 2, 0, 0.2, 0.3)]
    other = Event(2, "send", (1,), 9, 0, 0.05, 0.1)
    receives = [Event(1, "recv", (0,), 0, 1, 0.3, 0.4), Event(1, "recv", (0,), 0, 2, 0.5, 0.6)]
    pairs = figures.messages([receives[1], *sends, other, receives[0]])
    assert [(sent.sent, received.received) for sent, received in pairs] == [(1, 1), (2, 2)]


def test_spacetime_draws_one_bar_for_each_operation_and_one_arrow_for_each_message():
    axes = figures.spacetime(shift(4)).axes[0]
    assert sum(isinstance(patch, Rectangle) for patch in axes.patches) == 12
    assert sum(isinstance(patch, FancyArrowPatch) for patch in axes.patches) == 4
    assert axes.get_xlabel() == "time since the start (ms)"


def test_a_run_has_the_colours_of_the_timelines_in_explorers():
    """Kills: colours in alphabetical order, by which a forward pass has the colour of a timeline's backward pass."""
    kinds = ("send", "recv", "forward", "backward", "all_reduce")
    events = [Event(0, kind, (0,), 0, 0, float(place), place + 1.0) for place, kind in enumerate(kinds)]
    bars = [patch for patch in figures.spacetime(Run(events)).axes[0].patches if isinstance(patch, Rectangle)]
    assert [to_hex(bar.get_facecolor()) for bar in bars] == [colour.lower() for colour in kind_colours(kinds).values()]


def test_operations_that_overlap_do_not_cover_each_other():
    bars = [patch for patch in figures.spacetime(shift(1)).axes[0].patches if isinstance(patch, Rectangle)]
    send, receive = bars[:2]
    assert send.get_y() + send.get_height() <= receive.get_y() + 1e-9


def test_rows_that_are_no_ranks_have_names():
    picture = figures.spacetime(shift(2), lanes=("computing", "sending"))
    assert [label.get_text() for label in picture.axes[0].get_yticklabels()] == ["computing", "sending"]
    assert picture.axes[0].get_ylabel() == ""
    assert picture.alt.startswith("6 operations in computing, sending over time")


def test_a_run_without_events_is_an_empty_picture():
    assert figures.spacetime(Run()).alt.startswith("0 operations")


def test_ledger_bars_are_as_high_as_the_bytes():
    events = [Event(0, "send", (1,), 3000, 0), Event(1, "recv", (0,), 0, 3000)]
    picture = figures.ledger_bars(Ledger(events, 2))
    assert [bar.get_height() for bar in picture.axes[0].patches] == [3.0, 0.0, 0.0, 3.0]
    assert picture.axes[0].get_ylabel() == "bytes (kB)"
    assert "3,000" in picture.alt


def test_heat_map_shows_every_number():
    picture = figures.heat_map([[[1, 1], [1, 1]], [[2, 1], [1, 2]]])
    assert texts(picture) == ["1", "1", "1", "1", "2", "1", "1", "2"]
    assert "2 of 4 chunks hold 2" in picture.alt


def test_a_matrix_shows_every_number_and_name():
    picture = figures.matrix({"a": [1, 2, 3], "b": [4, 5, 6.5]}, x="x", y="y", alt="A.", columns=["p", "q", "r"])
    assert texts(picture) == ["1", "2", "3", "4", "5", "6.5"]
    assert [label.get_text() for label in picture.axes[0].get_xticklabels()] == ["p", "q", "r"]
    assert [label.get_text() for label in picture.axes[0].get_yticklabels()] == ["a", "b"]


def test_routing_does_not_count_what_stays():
    """Kills sums that include a rank's own block."""
    picture = figures.routing([[5, 1], [2, 7]])
    assert [text for text in texts(picture) if "sends" in text] == ["sends 1", "sends 2"]
    assert [label.get_text() for label in picture.axes[0].get_xticklabels()] == ["0\ngets 2", "1\ngets 1"]


def test_blocks_of_a_sum_are_striped():
    hatches = {patch.get_hatch() for patch in PICTURES["block_picture"]().axes[1].patches}
    assert hatches == {"////"}


def test_importing_figures_imports_neither_torch_nor_pyplot():
    code = "import sys, rankzero.figures; print({'torch', 'matplotlib.pyplot'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

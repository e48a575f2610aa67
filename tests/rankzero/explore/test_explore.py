"""Explorers: controls that match their function, the notebook's widget, the page's still, and the page that moves."""

from __future__ import annotations

import importlib
import itertools
import json
import re
import shutil
import sys
import threading
from html import unescape
from pathlib import Path

import pytest

from rankzero import explore as ex
from rankzero.explore import Choice, Range, Vector, vega
from rankzero.explore.controls import Number
from tools import browser as chrome
from tools.common import VENDOR
from tools.serve import server

STATIC = Path(__file__).parents[3] / "book" / "_static"

#: A test that ``make proof`` runs, and ``make test`` does not.
proof = pytest.mark.proof(part="pages")

needs_vendor = pytest.mark.skipif(
    not all((VENDOR / name).is_dir() for name in ("pyodide", "vega", "vega-lite", "vega-embed")),
    reason="the scripts of the book are not here (make vendor)",
)

TOY = '''
"""An explorer of the tests."""
from toys.helper import bars

def sizes(ranks, message=1e6, scale=(1.0,), kind="bar"):
    if kind == "none":
        raise ValueError("kind must be drawable, got none")
    return bars([rank * message * scale[0] for rank in range(ranks)])
'''
HELPER = """
def bars(values):
    rows = [{"x": i, "y": v} for i, v in enumerate(values)]
    x, y = {"field": "x", "type": "quantitative"}, {"field": "y", "type": "quantitative"}
    return {"data": {"values": rows}, "mark": {"type": "line", "clip": True}, "encoding": {"x": x, "y": y}}
"""
CONTROLS = {
    "ranks": Range(2, 8, 4),
    "message": Range(1e3, 1e9, 2e6, "B", log=True),
    "scale": Vector((1.0, 2.5), low=0),
    "kind": Choice("bar", "none"),
}


@pytest.fixture(scope="module")
def sizes(tmp_path_factory):
    """The toy explorer, imported from a package of its own."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "toys").mkdir()
    (folder / "toys" / "explorer.py").write_text(TOY)
    (folder / "toys" / "helper.py").write_text(HELPER)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("toys.explorer").sizes
    sys.path.remove(str(folder))


# Controls


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Range(3, 3, 3), "low must be below high"),
        (lambda: Range(0, 3, 1, log=True), "low must be positive for a logarithmic range, got 0"),
        (lambda: Choice(), "options must not be empty"),
        (lambda: Choice("a", default="b"), "default must be one of ['a'], got 'b'"),
        (lambda: Vector(()), "default must hold 1 to 64 numbers, got ()"),
    ],
)
def test_a_control_that_cannot_be(make, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make()


@pytest.mark.parametrize("text", ["", "1,,2", "a", "1;2", "nan", "inf", "-1", "1," * 64 + "1"])
def test_a_vector_that_cannot_be(text):
    with pytest.raises(ValueError, match="number"):
        Vector((1.0,), low=0).read(text)


def test_a_vector_reads_numbers():
    assert Vector((1.0,)).read(" 3, -2.5,1e3 ") == (3, -2.5, 1000)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rank": Range(1, 2, 1)}, "controls must be one of ranks, message, scale, kind, got 'rank'"),
        ({"ranks": 4}, "ranks must be a Range, Choice, Vector or Number, got 4"),
    ],
)
def test_controls_and_arguments_match(sizes, change, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ex.explore(sizes, title="t", alt="a", **change)


def test_an_argument_without_default_needs_a_control(sizes):
    with pytest.raises(ValueError, match="controls must cover ranks"):
        ex.explore(sizes, title="t", alt="a")


def test_a_plain_script_gets_a_sentence(sizes, capsys):
    ex.explore(sizes, title="Sizes", alt="They grow.", **CONTROLS)
    assert capsys.readouterr().out == "Sizes: an explorer, interactive in a notebook and in the book. They grow.\n"


@pytest.mark.parametrize(
    "control", [Range(1, 1024, 8, log=True), Range(1e3, 1e11, 123_456_789.0, "B", log=True), Range(0.0, 1.0, 1 / 3)]
)
def test_stops_of_a_slider_are_distinct_and_hold_both_ends_and_the_default(control):
    """Kills rounding that leaves two positions with one value: a key press that changes nothing."""
    stops = control.stops
    assert stops == sorted(set(stops))
    assert (stops[0], stops[-1]) == (control.low, control.high)
    assert control.default in stops
    assert all(isinstance(value, int) for value in stops) == control.integer
    if control.log:
        assert all(b <= max(1.12 * a, a + 1) for a, b in itertools.pairwise(stops))


def test_what_is_measured_is_rounded_and_what_is_counted_is_not():
    assert Range(1e-7, 1e-3, 1.2345678e-5, "s", log=True).default == 1.235e-5
    assert Range(0.0, 100.0, 12.3456789).default == 12.3457
    assert Range(1, 10**9, 26_214_401, log=True).default == 26_214_401


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2e9, "B", "2 GB"),
        (5e-6, "s", "5 µs"),
        (0, "s", "0 s"),
        (12345, "GB", "12,345 GB"),
        (4, "", "4"),
        (1e-10, "s", "1e-10 s"),
        (32_768, "tokens", "32,768 tokens"),
        (1, "tokens", "1 token"),
        (1.0, "target passes", "1 target pass"),
        (1, "per 100 steps", "1 per 100 steps"),
        (1, "times", "1 times"),
        (1, "ms", "1 ms"),
        (1234567.5, "", "1,234,567.5"),
        (-0.125, "", "-0.125"),
        (1e-5, "", "1e-05"),
        (1.05e6, "B", "1.05 MB"),
        (25 * 2**20, "B", "25 MiB"),
        (2**20 + 1, "B", "1.048577 MB"),
    ],
)
def test_a_value_is_shown_in_full_and_in_a_base_unit_with_a_prefix(value, unit, text):
    assert ex.shown(value, unit) == text


# The notebook


@pytest.fixture
def no_scripts(monkeypatch, tmp_path):
    """A course that was installed without the scripts of the book's pages."""
    monkeypatch.setattr(vega, "FOLDER", tmp_path)


def charts(box) -> list[dict]:
    """What the chart's place shows."""
    place = next(child for child in box.children if hasattr(child, "outputs"))
    return [output["data"] for output in place.outputs]


def test_the_widget_draws_the_default_and_each_change(sizes):
    box = ex.widget(sizes, "Sizes", "They grow.", CONTROLS)
    ranks, message, scale, _ = box.children[1:5]

    def drawn():
        return [row["y"] for row in charts(box)[0][vega.MIME]["data"]["values"]]

    assert drawn() == [0, 2e6, 4e6, 6e6]
    ranks.value = 2
    assert drawn() == [0, 2e6]
    assert message.label == "2 MB"
    message.value = 1e3
    assert drawn() == [0, 1e3]
    scale.value = "3, 1"
    assert drawn() == [0, 3e3]


def test_what_cannot_be_drawn_is_a_sentence(sizes):
    box = ex.widget(sizes, "Sizes", "They grow.", CONTROLS)
    box.children[3].value = "one"
    assert charts(box) == [{"text/plain": "numbers with commas between them are needed, got 'one'"}]
    box.children[3].value = "1"
    box.children[4].value = "none"
    assert charts(box) == [{"text/plain": "kind must be drawable, got none"}]


def test_without_the_scripts_the_front_end_draws_its_own_type(sizes, no_scripts):
    """Kills: altair's HTML wherever altair is installed: without a network, an error and no chart."""
    importlib.import_module("altair")
    box = ex.widget(sizes, "Sizes", "They grow.", CONTROLS)
    assert charts(box) == [{vega.MIME: sizes(4, 2e6), "text/plain": "They grow."}]
    assert not hasattr(box.children[-1], "outputs")


def test_altair_comes_last_where_nothing_else_draws(sizes, no_scripts, monkeypatch):
    """Colab draws no MIME type of charts, so altair's HTML is all that is left there."""
    monkeypatch.setitem(sys.modules, "google.colab", type(sys)("google.colab"))
    (drawn,) = charts(ex.widget(sizes, "Sizes", "They grow.", CONTROLS))
    assert "altair-viz" in drawn["text/html"]
    monkeypatch.setitem(sys.modules, "altair", None)
    (drawn,) = charts(ex.widget(sizes, "Sizes", "They grow.", CONTROLS))
    assert list(drawn) == [vega.MIME, "text/plain"]


@needs_vendor
def test_the_scripts_of_the_book_come_first(sizes, monkeypatch):
    """They draw in Colab too, and are sent once for each explorer, not with each change."""
    monkeypatch.setitem(sys.modules, "google.colab", type(sys)("google.colab"))
    box = ex.widget(sizes, "Sizes", "They grow.", CONTROLS)
    (drawn,) = charts(box)
    assert "altair" not in drawn["text/html"]
    assert len(drawn["text/html"]) < 10_000
    (engine,) = box.children[-1].outputs
    assert len(engine["data"]["text/html"]) > 500_000


SHOW = """(html) => {
  const place = document.createElement("div");
  place.innerHTML = html;
  document.body.append(place);
  for (const old of place.querySelectorAll("script")) {
    const fresh = document.createElement("script");
    fresh.textContent = old.textContent;
    old.replaceWith(fresh);
  }
}"""


@pytest.mark.browser
@needs_vendor
@pytest.mark.parametrize("modules", ["0", "window.define = Object.assign(() => { throw 'taken'; }, {amd: {}}); 0"])
@pytest.mark.parametrize("order", [1, -1])
def test_the_chart_draws_in_a_front_end_without_a_network(sizes, browser, modules, order):
    """Outputs as Jupyter shows them: scripts made anew, in any order, beside a loader of modules or none."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.set_content("<title>notebook</title><body></body>")
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url))
    page.evaluate(modules)
    box = ex.widget(sizes, "Sizes", "They </script> grow.", CONTROLS)
    outputs = [charts(box)[0]["text/html"], box.children[-1].outputs[0]["data"]["text/html"]]
    for html in outputs[::order]:
        page.evaluate(SHOW, html)
    page.wait_for_function("document.querySelector('svg.marks')")
    assert page.locator("[role=img]").first.get_attribute("aria-label") == "They </script> grow."
    box.children[1].value = 2
    page.evaluate(SHOW, charts(box)[0]["text/html"])
    page.wait_for_function("document.querySelectorAll('svg.marks').length === 2")
    context.close()
    assert faults == []


# The still


def test_two_builds_give_the_same_bytes_and_ids_of_their_own(sizes):
    """Kills random or counted ids, which a second execution of the notebook would not repeat."""
    first = ex.figure(sizes, "Sizes", "They grow.", CONTROLS)
    ex.figure(sizes, "Other", "They grow.", {"ranks": Range(2, 9, 8)})
    assert ex.figure(sizes, "Sizes", "They grow.", CONTROLS) == first
    used = set(re.findall(r'\bid="([^"]+)"', first))
    assert used
    assert used >= set(re.findall(r"url\(#([^)]+)\)", first))
    assert all(name.startswith("rz-toys-explorer-sizes-") for name in used)


def test_the_figure_carries_its_definition_and_sleeps(sizes):
    html = ex.figure(sizes, "Sizes & <b>", "They grow.", CONTROLS)
    found = re.search(r' data-controls="([^"]*)"', html)
    assert found
    controls = json.loads(unescape(found[1]))
    stops = [2, 3, 4, 5, 6, 7, 8]
    assert controls["ranks"] == {"kind": "Range", "default": 4, "stops": stops, "texts": "2|3|4|5|6|7|8"}
    assert controls["scale"]["high"] is None
    assert '<fieldset class="rz-controls" disabled' in html
    assert "make serve" in html
    assert "Sizes &amp; &lt;b&gt;" in html
    assert "<svg" in html
    assert "http" not in html.replace("http://www.w3.org/", "")


def test_a_function_of_a_cell_cannot_move_in_the_page(sizes, monkeypatch):
    monkeypatch.setattr(sizes, "__module__", "__main__")
    with pytest.raises(ValueError, match="fn must be defined in a module"):
        ex.figure(sizes, "t", "a", CONTROLS)


def test_without_vl_convert_the_build_says_what_to_install(sizes, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(RuntimeError, match="vl-convert-python"):
        ex.figure(sizes, "t", "a", CONTROLS)


# The page


def write_page(folder: Path, figure: str, scripts: Path) -> None:
    """A page in a sub-folder, with its scripts beside the root, as Sphinx lays them out."""
    (folder / "book").mkdir()
    shutil.copytree(STATIC, folder / "_static")
    if scripts.is_dir():
        (folder / "_static" / "vendor").symlink_to(scripts)
    (folder / "book" / "03.html").write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>3</title><link rel="icon" href="data:,">'
        '<meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="../_static/rankzero.css"><script defer src="../_static/wait.js"></script>'
        '<script defer src="../_static/explorer.js"></script>'
        f"<body>{figure}</body></html>",
        encoding="utf-8",
    )


@pytest.fixture
def visit(browser, sizes, tmp_path):
    """Opens the explorer's page, served or from disk, with the vendored scripts or without."""
    servers, contexts = [], []

    def open_page(served: bool = True, scripts: bool = True):
        vendor = tmp_path / "vendor"
        if scripts:
            vendor.mkdir()
            for part in VENDOR.iterdir():
                (vendor / part.name).symlink_to(part) if part.is_dir() else None
            (vendor / "python.json").write_text(json.dumps({"toys/explorer.py": TOY, "toys/helper.py": HELPER}))
            (vendor / "start.json").write_text(json.dumps({"bytes": 1, "version": "a version"}))
        write_page(tmp_path, ex.figure(sizes, "Sizes", "They grow.", CONTROLS), vendor)
        address = tmp_path.as_uri()
        if served:
            running = server(tmp_path)
            servers.append(running)
            threading.Thread(target=running.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{running.server_port}"
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.set_default_timeout(120_000)  # Python starts slowly on a busy machine
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("request", lambda r: None if chrome.local(r.url) else page.faults.append(r.url))
        page.goto(f"{address}/book/03.html")
        return page

    yield open_page
    for context in contexts:
        context.close()
    for running in servers:
        running.shutdown()
        running.server_close()


def wait_for(page, name: str, value) -> None:
    state = "JSON.parse(document.querySelector('figure').dataset.state || '{}')"
    script = f"([name, value]) => JSON.stringify({state}[name]) === value"
    page.wait_for_function(script, arg=[name, json.dumps(value, separators=(",", ":"))])


@pytest.mark.browser
def test_from_disk_the_still_stays_and_says_how_to_move_it(visit):
    page = visit(served=False, scripts=False)
    assert page.get_by_role("slider", name="ranks").is_disabled()
    assert "make serve" in page.locator(".rz-status").inner_text()
    assert page.locator(".rz-chart svg").first.is_visible()
    assert page.faults == []


@pytest.mark.browser
def test_without_the_scripts_the_still_stays_and_a_sentence_says_so(visit):
    page = visit(scripts=False)
    still = page.locator(".rz-chart").inner_html()
    page.get_by_role("slider", name="ranks").press("ArrowRight")
    page.wait_for_function("document.querySelector('.rz-status').textContent.includes('does not move here')")
    assert page.locator(".rz-chart").inner_html() == still
    assert page.faults == []


#: What does not arrive, one press after the other, in the order in which it is asked for.
AWAY = ("**/*", "**/explorer-worker.js", "**/pyodide.js", "**/*.wasm")


def press_in_vain(page, away: str) -> None:
    """A press that moves nothing, for which something is asked that does not arrive."""
    asked = []
    page.route(away, lambda route: (asked.append(route.request.url), route.abort()))
    page.evaluate("document.querySelector('.rz-status').textContent = ''")
    page.locator(".rz-value").first.click()
    page.wait_for_function("document.querySelector('.rz-status').textContent.endsWith('Press a control to try again.')")
    assert page.locator(".rz-status").inner_text().startswith("The chart does not move here: ")
    assert asked, away
    page.unroute(away)


@proof
@pytest.mark.browser
@needs_vendor
@pytest.mark.parametrize("away", [AWAY, *([one] for one in (*AWAY, "**/vega-lite*"))], ids=" ".join)
def test_the_page_moves_also_after_presses_without_a_network(visit, away):
    """Slider, logarithmic slider, numbers and choice, by keyboard; the latest change wins; errors are sentences. Kills
    a figure that loads anything before the first touch, or that is dead after a press in vain until the page is loaded
    again."""
    page = visit()
    status, ranks = page.locator(".rz-status"), page.get_by_role("slider", name="ranks")
    assert status.inner_text() == ""
    assert page.locator(".rz-value").all_inner_texts() == ["4", "2 MB"]
    assert page.evaluate("performance.getEntriesByType('resource').filter(e => e.name.includes('vendor')).length") == 0
    assert page.evaluate("typeof vegaEmbed") == "undefined"
    still = page.locator(".rz-chart").inner_html()
    for one in away:
        press_in_vain(page, one)
    page.locator(".rz-value").first.click()
    page.wait_for_function("document.querySelector('.rz-status').textContent === ''")
    for _ in range(3):
        ranks.press("ArrowRight")
    wait_for(page, "ranks", 7)
    assert page.locator(".rz-chart").inner_html() != still
    assert page.locator(".rz-chart svg").count() == 1
    assert json.loads(page.locator("figure").get_attribute("data-state"))["message"] == 2e6
    page.get_by_role("slider", name="message").press("Home")
    wait_for(page, "message", 1000)
    assert page.locator(".rz-value").all_inner_texts() == ["7", "1 kB"]
    page.get_by_role("textbox", name="scale").fill("3, 4")
    wait_for(page, "scale", [3, 4])
    page.get_by_role("textbox", name="scale").fill("3, -4")
    assert status.inner_text() == "Each number must lie between 0 and ∞."
    page.get_by_role("textbox", name="scale").fill("3")
    page.get_by_role("combobox", name="kind").select_option("none")
    page.wait_for_function("document.querySelector('.rz-status').textContent.includes('drawable')")
    assert status.inner_text() == "kind must be drawable, got none"
    assert page.faults == []


class TestNumber:
    @pytest.mark.parametrize(
        ("control", "text"),
        [
            (Number(70e9, "parameters"), "70e9"),
            (Number(4096), "4096"),
            (Number(80e9, "B"), "80 GB"),
            (Number(0.4), "0.4"),
            (Number(5e-6, "s"), "5e-06"),
        ],
    )
    def test_the_default_reads_back(self, control, text):
        assert control.text == text
        assert control.read(text) == control.default

    @pytest.mark.parametrize(
        ("control", "typed", "value"),
        [
            (Number(1e9, "B"), "64 GiB", 64 * 2**30),
            (Number(1e9, "B/s"), "50 GB/s", 50e9),
            (Number(1.0, "s"), "5 us", 5e-6),
            (Number(8), "1,024", 1024),
        ],
    )
    def test_units(self, control, typed, value):
        assert control.read(typed) == pytest.approx(value)

    @pytest.mark.parametrize(
        ("control", "typed", "said"),
        [
            (Number(8), "2.5", "a whole number is needed"),
            (Number(8, low=1), "0", "a number from 1 to inf is needed"),
            (Number(0.5, high=1), "two", "a number is needed"),
            (Number(1.0, "B"), "3 XB", "a number is needed"),
            (Number(1.0), "inf", "a number from 0 to inf is needed"),
        ],
    )
    def test_what_is_refused(self, control, typed, said):
        with pytest.raises(ValueError, match=said):
            control.read(typed)

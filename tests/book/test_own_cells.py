"""Cells that run in the page with the reader's functions: with the course's they show what the build showed."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from autograder.learner import own_run
from tests.book.conftest import proof
from tools import own_runs
from tools.build_book import notebooks
from tools.common import VENDOR

pytestmark = pytest.mark.browser  # what opens no browser reads the built book, as those tests do

#: Python starts, on a machine that other tests keep busy.
START = 120_000
#: A function of chapter 7 whose answer a cell draws as stacked bars: all parameters, and those that a token uses.
PARAMETERS = "07-moe-parameters"
HERS = "def moe_parameters(*shape):\n    return {}, 1e9\n"


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_program_shows_what_its_cell_showed(html: Path, path):
    """Kills a program that lacks a statement of an earlier cell, has one too many, or has them in another order; a
    chart has the sentence of the built picture.
    """
    executed = html.with_name("executed") / "notebooks" / path.name
    cells = [cell for cell in nbformat.read(executed, as_version=4).cells if cell.cell_type == "code"]
    outputs = {cell["id"]: cell.outputs for cell in cells}
    programs = own_runs.programs(nbformat.read(path, as_version=4).cells)
    assert programs or path.parent.name == "deeper" or path.stem in ("07-pipeline-expert", "13-rlhf")
    for name, program in programs.items():
        lines: list[str] = []
        charts: list[dict] = []
        assert own_run.run(program.data(), {}, {}, lambda place: None, lines.append, charts.append) == "", name
        printed = "".join(output.text for output in outputs[name] if output.output_type == "stream")
        assert lines == (printed.rstrip("\n").split("\n") if printed else []), name
        assert [chart["description"] for chart in charts] == drawn(outputs[name]) * program.chart, name


def drawn(outputs: list) -> list[str]:
    """The sentences of the pictures among the outputs of a cell."""
    return [
        output.data["text/plain"] for output in outputs if "rz-figure" in output.get("data", {}).get("text/html", "")
    ]


@proof
@pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)")
def test_a_chart_is_drawn_from_the_readers_numbers(site: str, visit):
    """Kills a chart of the course's numbers, one that stays when her function changes, and one that is not readable on
    a dark page or makes a narrow one wider.
    """
    watch = visit(f"{site}/book/deeper/07-pipeline-expert-deeper.html", width=390, scheme="dark")
    page = watch.page
    place = page.locator(".rz-own[data-own*='parameters (billions)']")
    chart, shapes = place.get_by_role("img", name="Parameters"), []
    for total in ("4e9", "2e9"):
        entry = {"source": HERS.format(total), "state": "wrong"}
        page.evaluate("([id, entry]) => rankzeroWork.change(id, entry)", [PARAMETERS, entry])
        assert chart.count() == 0
        place.get_by_role("button", name="Run this cell with your moe_parameters").click()
        expect(chart.locator("svg")).to_be_visible(timeout=START)
        number = f"{float(total) / 1e9:.1f} billion"
        assert chart.get_attribute("aria-label") == f"Parameters: Mixtral 8x7B {number}; DeepSeek-V3 {number}."
        shapes.append([bar.get_attribute("d") for bar in chart.locator(".mark-rect path").all()])
    assert len(shapes[0]) == len(shapes[1]) == 4
    assert not {*shapes[0]} & {*shapes[1]}
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    texts = {text.get_attribute("fill") for text in chart.locator("text").all()}
    assert texts == {"currentColor"}
    light = chart.evaluate("node => getComputedStyle(node).color.match(/\\d+/g).slice(0, 3).map(Number)")
    assert min(light) > 150
    assert watch.problems == []

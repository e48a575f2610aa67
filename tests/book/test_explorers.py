"""Explorers of the built chapter: they move when the book is served, and stand still, with a sentence, when not."""

from __future__ import annotations

import json

import nbformat
import pytest

from experiments.ch07.explorers import OWN
from tests.book.conftest import TAUGHT
from tools import narrow
from tools.build_book import notebooks
from tools.common import ROOT, VENDOR

pytestmark = pytest.mark.browser

CHAPTERS = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks()]

needs_pyodide = pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)")


#: A control that matters with one option of another one alone: that control, and the option.
MATTERS_WITH = {"billion_parameters": ("model", OWN), "sequence_parallel": ("ranks", 8)}


def drawn(figure) -> str:
    """What the reader sees of a chart."""
    return figure.locator(".rz-chart").inner_html()


def move(watch, figure, name: str, control: dict, state: str | None) -> str:
    """Moves one control away from where it stands; returns the chart's new state, once it is drawn."""
    field = figure.locator(f"[data-name={name}]")
    if control["kind"] == "Range":
        field.press("PageDown" if control["default"] == control["stops"][-1] else "PageUp")
    elif control["kind"] == "Choice":
        field.select_option(index=(control["options"].index(control["default"]) + 1) % len(control["options"]))
    else:
        field.fill(", ".join(map(str, inside(control))))
    return redrawn(watch, figure, state)


def redrawn(watch, figure, state: str | None) -> str:
    """The state of a chart that is another one than ``state``."""
    watch.page.wait_for_function(
        "([node, old]) => node.dataset.state && node.dataset.state !== old",
        arg=[figure.element_handle(), state],
        timeout=60_000,
    )
    return figure.get_attribute("data-state")


def inside(control: dict) -> list[float]:
    """Three numbers that a vector may hold."""
    low, high = control["low"], control["high"]
    if (low is None or low <= 1) and (high is None or high >= 3):
        return [1, 2, 3]
    return [low + (high - low) * part / 4 for part in (1, 2, 3)]


def explorers(chapter: str) -> int:
    """How many explorers the notebook of a page calls for."""
    cells = nbformat.read(ROOT / chapter.replace(".html", ".ipynb"), as_version=4).cells
    return sum(cell.cell_type == "code" and cell.source.lstrip().startswith("explore(") for cell in cells)


def drawn_for_a_phone(page, figure) -> None:
    """A chart that was moved does not stay as it was when the window becomes narrow: it fits."""
    svg = figure.locator(".rz-chart svg").first.element_handle()
    page.set_viewport_size({"width": narrow.WIDTH, "height": 900})
    page.wait_for_function("(svg) => !svg.isConnected", arg=svg, timeout=120_000)
    assert narrow.broken(page) == []


@needs_pyodide
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_control_moves_the_chart(visit, addresses, chapter):
    """Python runs in the page: each slider and each choice, moved, draws another chart from the same function."""
    watch = visit(f"{addresses['http']}/{chapter}")
    figures = watch.page.locator("figure.rz-explorer").all()
    assert len(figures) == explorers(chapter)
    for figure in figures:
        controls = json.loads(figure.get_attribute("data-controls"))
        state = None
        for name, control in controls.items():
            other, option = MATTERS_WITH.get(name, ("", ""))
            if other in controls:
                index = controls[other]["options"].index(option)
                figure.locator(f"[data-name={other}]").select_option(index=index)
                state = redrawn(watch, figure, state)
            before = drawn(figure)
            state = move(watch, figure, name, control, state)
            assert json.loads(state)[name] != control["default"], name
            assert drawn(figure) != before, f"{name} moved and the chart did not"
            assert figure.locator(".rz-status").inner_text() == ""
    if figures and chapter in TAUGHT:
        drawn_for_a_phone(watch.page, figures[0])
    assert watch.problems == []


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("scripts", [True, False])
def test_still_from_disk(shared, chapter, scripts):
    """From disk, or without scripts: the default state is drawn, controls are off, a sentence says how it moves."""
    watch = shared("file", chapter, scripts)
    for figure in watch.page.locator("figure.rz-explorer").all():
        assert figure.locator(".rz-chart svg, .rz-chart img").count() >= 1
        assert figure.locator("fieldset").get_attribute("disabled") is not None
        assert "make serve" in figure.inner_text()
        assert figure.locator("figcaption").inner_text().strip()
    assert watch.problems == []

"""Figures at 390 px, light and dark: all of each lies in its column, and its text can be read (tools/narrow.py)."""

from __future__ import annotations

import pytest

from tests.book.conftest import TAUGHT, proof
from tools import narrow

pytestmark = pytest.mark.browser

#: The pages that hold the rule.
PAGES = ["book/intro.html", *TAUGHT]


@pytest.mark.parametrize("chapter", PAGES)
def test_a_phone_shows_all_of_every_figure(shared, chapter):
    watch = shared("http", chapter)
    assert narrow.both(watch.page) == []
    watch.page.emulate_media(color_scheme="light")


@proof
@pytest.mark.parametrize("chapter", ["book/07-pipeline-expert.html"])
def test_a_chart_that_was_moved_fits_a_phone(visit, site, chapter):
    """Kills a chart that fits until a control is touched, and is drawn for a desk then, or stays as it was drawn when
    the window becomes narrow."""
    watch = visit(f"{site}/{chapter}")
    figure = watch.page.locator(".rz-explorer").first
    figure.get_by_role("slider").first.press("ArrowRight")
    figure.locator(".rz-chart:not(:has(.rz-phone))").wait_for(timeout=120_000)
    drawn = figure.locator(".rz-chart svg").first.element_handle()
    watch.page.set_viewport_size({"width": narrow.WIDTH, "height": 900})
    watch.page.wait_for_function("(drawn) => !drawn.isConnected", arg=drawn, timeout=120_000)
    assert narrow.broken(watch.page) == []
    figure.get_by_role("slider").first.press("ArrowRight")
    watch.page.wait_for_function("(f) => f.querySelector('.rz-status').textContent === ''", arg=figure.element_handle())
    assert narrow.broken(watch.page) == []
    assert watch.problems == []

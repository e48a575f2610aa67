"""A Jupyter without widgets shows a still picture, not the text of a VBox."""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ET

import pytest

from rankzero import explore as ex
from rankzero.explore import display, steppers, vega

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def shown(monkeypatch):
    """What a cell displays."""
    found: list = []
    monkeypatch.delenv("RANKZERO_BOOK", raising=False)
    for module in (display, steppers):
        monkeypatch.setattr(module, "in_kernel", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda what, **_: found.append(what))
    return found


def two(step: int) -> ex.Scene:
    return ex.Scene(100, 40, (ex.Box(0, 0, 40, 40, f"<{step}>"),), f"Step {step} & on.", f"Box {step}.")


def line(ranks: int, slope: float = 1.0) -> dict:
    if slope < 0:
        raise ValueError(f"slope must be at least 0, got {slope}")
    rows = [{"x": rank, "y": slope * math.sqrt(rank)} for rank in range(ranks)]
    x, y = ({"field": name, "type": "quantitative"} for name in "xy")
    return {"data": {"values": rows}, "mark": "line", "encoding": {"x": x, "y": y}}


def test_a_stepper_has_its_pictures_beside_the_widget(shown):
    ex.stepper(two, steps=2, title="Two & more", alt="It moves.")
    (bundle,) = shown
    assert WIDGET in bundle
    assert "VBox" not in bundle["text/plain"]
    assert bundle["text/plain"].splitlines() == ["Two & more. It moves.", *(f"Step {step} & on." for step in range(3))]
    pictures = ET.fromstring(bundle["text/html"])
    assert pictures.find("div/svg").get("aria-label") == "Box 1."
    assert [svg.get("aria-label") for svg in pictures.iter("svg")][1:] == ["Box 0.", "Box 1.", "Box 2."]
    assert "--rz-accent:" in pictures.get("style")


def test_an_explorer_has_a_picture_where_one_can_be_drawn(shown):
    pytest.importorskip("vl_convert")
    ex.explore(line, title="Roots", alt="They rise.", ranks=ex.Range(2, 8, 4))
    (bundle,) = shown
    assert WIDGET in bundle
    assert ET.fromstring(bundle["image/svg+xml"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert bundle["text/plain"].startswith("Roots. They rise. ")


def test_an_explorer_has_a_chart_of_jupyterlab_elsewhere(shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    ex.explore(line, title="Roots", alt="They rise.", ranks=ex.Range(2, 8, 4))
    (bundle,) = shown
    assert bundle[vega.MIME] == line(4)
    assert "VBox" not in bundle["text/plain"]


def test_an_explorer_that_refuses_its_default_says_why(shown):
    ex.explore(line, title="Roots", alt="They rise.", ranks=ex.Range(2, 8, 4), slope=ex.Range(-2, 2, -1))
    assert shown[0]["text/plain"] == "slope must be at least 0, got -1"


def test_a_widget_of_version_7_is_shown_as_it_is(shown):
    box = object()
    display.show_with_still(box, {"text/plain": "still"})
    assert shown == [box]

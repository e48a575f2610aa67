"""Charts: blocks keep track of where they come from, specs are valid, colours are told apart."""

from __future__ import annotations

import ast
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
import vl_convert

from rankzero import charts
from rankzero.charts import COLOURS, Axis, Block, blocks, ink_on
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


def test_every_builder_gives_a_chart_that_the_grammar_accepts():
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


def test_only_the_standard_library_is_imported():
    """The browser has nothing else."""
    tree = ast.parse(Path(charts.__file__).read_text(encoding="utf-8"))
    found = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    found |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert found <= set(sys.stdlib_module_names) | {"collections.abc"}

"""What an explorer of the course shows beside a control is what its function gets: exactly, in notebook and page."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from rankzero.explore import display as ex
from tools.build_book import notebooks

PREFIXES = dict(zip("PTGMk mµn", ("1e15", "1e12", "1e9", "1e6", "1e3", "1", "1e-3", "1e-6", "1e-9"), strict=True))
BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
SCALED = ("B", "B/s", "s", "FLOP", "FLOP/s")

#: What the cells of an explorer take from runs before them: numbers with all the digits that a measurement has.
MEASURED: dict[str, Any] = {
    "alpha": 1.2345678901234567e-05,
    "bandwidth": 1.2345678901234567e9,
    "measured": {"strong": [SimpleNamespace(step=1.2345678 / ranks) for ranks in (1, 2, 4)]},
    "said": [0.1234567890123, -1.5, 0.0],
    "rewards": [1.0, 0.0, -0.123456789],
}


def cells(page: Any) -> list[str]:
    return [cell.source for cell in page.cells if cell.cell_type == "code"]


def needed(source: str) -> str:
    """The lines of a cell that import from the course, and those that make controls."""
    magic = source.startswith("%%")
    nodes = [] if magic else ast.parse(re.sub(r"^ *%.*$", "", source, flags=re.MULTILINE)).body
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if (node.module or "").startswith(("rankzero", "solutions", "experiments"))]
    controls = [n for n in nodes if isinstance(n, ast.Assign | ast.AugAssign) and "Range(" in ast.unparse(n.value)]
    return "\n".join(map(ast.unparse, [*ours, *controls]))


@functools.cache
def explorers(path: Path) -> list[dict[str, ex.Control]]:
    """The controls of every explorer of a page, from its cells."""
    found: list[dict[str, ex.Control]] = []

    def note(fn: Any, *, title: str, alt: str, **controls: ex.Control) -> None:
        found.append(controls)

    names: dict[str, Any] = {}
    for source in cells(nbformat.read(path, as_version=4)):
        exec(needed(source), names)
        if re.search(r"^explore\(", source, re.MULTILINE):
            exec(source, {**MEASURED, **names, "explore": note})
    return found


every_page = pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)


def ranges(path: Path) -> Iterator[tuple[str, ex.Range]]:
    """The sliders of a page, by name."""
    for controls in explorers(path):
        yield from ((name, control) for name, control in controls.items() if isinstance(control, ex.Range))


def read(text: str, unit: str) -> float:
    """The number that a reader takes from a read-out."""
    said = re.fullmatch(r"(-?\d{1,3}(?:,\d{3})*(?:\.\d+)?|-?[\d.]+e-\d+)(?: (.+))?", text)
    assert said, f"{text!r} is no read-out"
    if said[1] == "1" and not (said[2] or "").endswith(unit):
        unit = re.sub(r"(?<=ss)es$|s$", "", unit)  # one token, one pass
    number, prefix = Decimal(said[1].replace(",", "")), (said[2] or "").removesuffix(unit) or " "
    assert said[2] is None if not unit else said[2].endswith(unit)
    assert prefix == " " or unit in SCALED
    return float(number * (BINARY[prefix] if prefix in BINARY else Decimal(PREFIXES[prefix])))


def calls(path: Path) -> int:
    """The explorers that a page shows."""
    sources = cells(nbformat.read(path, as_version=4))
    return sum(len(re.findall(r"^explore\(", source, re.MULTILINE)) for source in sources)


@every_page
def test_every_explorer_is_found(path):
    """Kills: a search that finds none, and every test below that proves nothing."""
    assert len(explorers(path)) == calls(path)


def test_every_chapter_has_explorers():
    assert {path.stem[:2] for path in notebooks() if calls(path)} == {path.stem[:2] for path in notebooks()}


@pytest.mark.proof(part="runs")
@every_page
def test_the_read_out_of_a_slider_is_the_value_that_the_function_gets(path):
    """Kills: 32770 tokens beside a chart of 32,768."""
    for name, control in ranges(path):
        slider = ex._input(name, control)
        assert [value for _, value in slider.options] == control.stops
        for text, value in slider.options:
            assert read(text, control.unit) == value, (name, text, value)


@pytest.mark.proof(part="runs")
@every_page
def test_the_page_shows_what_the_notebook_shows(path):
    for name, control in ranges(path):
        data = json.loads(json.dumps(ex._definition(control)))
        assert data["texts"].split("|") == [text for text, _ in ex._input(name, control).options]
        assert data["stops"] == control.stops
        first = data["texts"].split("|")[data["stops"].index(control.default)]
        assert f">{first}</span>" in unescape(ex._field(name, control))


@every_page
def test_options_and_fields_are_exact(path):
    for control in (control for controls in explorers(path) for control in controls.values()):
        if isinstance(control, ex.Choice):
            for text, option in zip(control.texts, control.options, strict=True):
                assert text == option if isinstance(option, str) else read(text, control.unit) == option
        if isinstance(control, ex.Vector):
            assert control.read(control.text) == control.default


@every_page
def test_read_outs_are_short(path):
    """A continuous slider has sensible digits: nobody reads 12.345678901 µs."""
    for name, control in ranges(path):
        if not control.integer:
            texts = [ex.shown(value, control.unit) for value in control.stops]
            assert max(len(re.findall(r"\d", text.split("e")[0].lstrip("-0."))) for text in texts) <= 6, name

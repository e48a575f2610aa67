"""The page of calculators: complete, with a field for each argument, and a list of the chapters' explorers."""

from __future__ import annotations

import inspect
import math

import pytest

from autograder.sections import SECTIONS
from experiments import calculators as sheets
from rankzero.explore.display import defaults
from rankzero.facts.units import GB
from solutions.ch05.zero import zero_memory
from tools.common import BOOK, notebooks
from tools.reference import calculators


@pytest.mark.parametrize("one", calculators.CALCULATORS, ids=lambda one: one.function.__name__)
def test_every_argument_has_a_field(one):
    """Kills a field that the function does not take, a row without a text, and a number that is none."""
    assert list(inspect.signature(one.function).parameters) == list(one.controls)
    rows = one.function(**defaults(one.controls))["rows"]
    assert len(rows) > 1
    assert all(name and text and "nan" not in text for name, text in rows)
    assert one.section in SECTIONS
    text = calculators.entry(one)
    assert text.count("data-name=") == len(one.controls)
    assert f">{one.section}</a>" in text


def test_every_function_is_on_the_page():
    made = {
        name
        for name, value in vars(sheets).items()
        if inspect.isfunction(value) and value.__module__ == sheets.__name__ and not name.startswith("_")
    }
    assert made == {one.function.__name__ for one in calculators.CALCULATORS}


def test_a_calculator_says_what_its_function_says():
    rows = dict(sheets.model_states(7e9, 64, 80 * GB, 2.0, 2.0, 12.0)["rows"])
    assert rows["stage 3"].startswith(f"{zero_memory(7e9, 3, 64) / GB:.4g} GB held, fits")
    assert "does not fit" in rows["stage 0"]
    assert "no layout" in dict(sheets.advisor(405e9, 0, 8, 80 * GB, 64, 8192, 50 * GB)["rows"])["layouts"]


def test_a_server_has_to_prefill():
    """A prefill takes a replica whole: so many in a second take as many replicas as seconds."""
    rows = dict(sheets.serving(70e9, "H100", 8, 64, 8000, 1, 100.0)["rows"])
    assert rows["prefill"] == "152.2 ms"
    assert rows["replicas"] == "16, because 100 prefills a second take so many"
    assert rows["GPUs"] == "128"


def test_with_more_gpus_than_heads_caches_hold_copies():
    """405B on two nodes: 16 ranks keep a head each of 8, so a token takes twice the bytes of its heads."""
    rows = dict(sheets.cache(126, 8, 128, 2.0, 16, 405.85e9, 80 * GB, 4096)["rows"])
    assert rows["a token"] == "504 KiB"
    assert rows["a request, on all GPUs"] == "4.228 GB"
    assert rows["tokens that fit"] == f"{int((16 * 72 * GB - 2 * 405.85e9) // (2 * 504 * 1024)):,}"


def test_every_explorer_is_listed_with_its_section():
    calls = sum(path.read_text(encoding="utf-8").count('"explore(\\n"') for path in notebooks(BOOK.parent))
    found = [*calculators.explorers()]
    assert len(found) == calls > 0
    assert {section for section, _ in found} <= {*SECTIONS, ""}
    assert math.prod(len(title) for _, title in found) > 0

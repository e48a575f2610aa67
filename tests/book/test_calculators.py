"""The page of calculators: free numbers in, a table out, by the course's own functions in the browser."""

from __future__ import annotations

import json

import pytest

from experiments import calculators as sheets
from rankzero.explore.controls import Choice
from tests.book.conftest import proof
from tools.common import VENDOR
from tools.reference.calculators import CALCULATORS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

PAGE = "book/reference/calculators.html"
#: Milliseconds for a start of Python on a busy machine.
START = 120_000


def figure(page, function):
    return page.locator(f'.rz-explorer[data-function="{function.__name__}"]')


def rows(found) -> list[list[str]]:
    return found.locator("tr").evaluate_all("all => all.map((row) => [...row.cells].map((cell) => cell.textContent))")


@pytest.mark.proof(part="pages")
def test_free_numbers(shared):
    """Kills a calculator that takes only what it was built with: 34 billion parameters on 128 GPUs, typed in words."""
    watch = shared("http", PAGE)
    states = figure(watch.page, sheets.model_states)
    before = rows(states)
    states.locator("[data-name=ranks]").fill("128")
    states.locator("[data-name=parameters]").fill("34 billion")
    wanted = sheets.model_states(34e9, 128, 80e9, 2.0, 2.0, 12.0)["rows"]
    watch.page.wait_for_function(
        "([name, text]) => document.querySelector(`[data-function=${name}] td`).textContent === text",
        arg=["model_states", wanted[0][1]],
        timeout=START,
    )
    assert rows(states) == wanted != before
    states.locator("[data-name=ranks]").fill("2.5")
    assert states.locator(".rz-status").inner_text() == "Type a whole number."
    assert rows(states) == wanted
    states.locator("[data-name=ranks]").fill("16.1 thousand")  # 16100.000000000002 in floating-point numbers
    text = sheets.model_states(34e9, 16_100, 80e9, 2.0, 2.0, 12.0)["rows"][3][1]
    states.get_by_role("cell", name=text, exact=True).wait_for(timeout=START)
    assert watch.problems == []


#: Does as Firefox does after a reload: before any script of the page, selects are as they were left.
AS_LEFT = """document.addEventListener("readystatechange", () => {
  document.querySelectorAll(".rz-explorer select").forEach((one) => { one.selectedIndex = one.options.length - 1; });
}, { once: true })"""


def test_a_select_begins_with_what_its_table_shows(visit, site):
    """Kills a select that a browser has put back beside the table of the default."""
    page = visit(f"{site}/{PAGE}").page
    page.context.add_init_script(AS_LEFT)
    page.reload()
    selects = page.locator(".rz-explorer select")
    assert selects.count() > 1
    built = "all => all.filter((one) => !one.options[one.selectedIndex].defaultSelected).length"
    assert selects.evaluate_all(built) == 0


@proof
@pytest.mark.parametrize("one", CALCULATORS, ids=lambda one: one.function.__name__)
def test_the_page_says_what_python_says(shared, one):
    """Each calculator, with larger numbers: twice as many of what is counted: the browser and this machine agree."""
    watch = shared("http", PAGE)
    found = figure(watch.page, one.function)
    state = {}
    for name, control in one.controls.items():
        if isinstance(control, Choice):
            state[name] = control.default
            continue
        larger = 2 * control.default if control.whole else control.default * 1.125
        state[name] = min(larger, control.high)
        found.locator(f"[data-name={name}]").fill(repr(state[name]))
    wanted = one.function(**state)["rows"]
    watch.page.wait_for_function(
        "([name, rows]) => JSON.stringify([...document.querySelectorAll(`[data-function=${name}] tr`)]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))) === rows",
        arg=[one.function.__name__, json.dumps(wanted, ensure_ascii=False, separators=(",", ":"))],
        timeout=START,
    )

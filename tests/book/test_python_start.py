"""Python in the page starts once: the second start begins from the picture that the first one left."""

from __future__ import annotations

import pytest

from tools.common import VENDOR

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

#: Starts Python, and says whether it was handed a picture each time it was loaded, what it computes, and what was told.
START = """async (base) => {
  const kept = await caches.open("rankzero-python");
  const plain = window.plainLoad = window.plainLoad || window.loadPyodide;
  const pictures = [], told = [];
  window.loadPyodide = (options) => (pictures.push("_loadSnapshot" in options), plain(options));
  const python = await startPython(base, (done, total) => told.push([done, total]));
  const value = python.runPython("import rankzero.facts.units as units; units.GiB");
  while (!(await kept.keys()).length) await new Promise((done) => setTimeout(done, 50));
  return { pictures, value, told, kept: (await kept.keys()).map(({ url }) => url) };
}"""


@pytest.fixture
def start(site, visit):
    """``start()`` starts Python in one page of a fresh profile; ``start.page`` is the page."""
    watch = visit(f"{site}/book/intro.html")
    for name in ("vendor/pyodide/pyodide.js", "python-start.js"):
        watch.page.add_script_tag(url=f"{site}/_static/{name}")

    def again():
        return watch.page.evaluate(START, f"{site}/_static/")

    again.page = watch.page
    return again


def test_the_second_start_begins_from_a_picture(start):
    """Both starts give a Python that computes with our modules, and the first says how far it is: no more than all."""
    first, second = start(), start()
    assert (first["pictures"], second["pictures"]) == ([False], [True])
    assert first["value"] == second["value"] == 2**30
    done, total = first["told"][-1]
    assert 0.9 * total < done <= total


def test_a_picture_of_another_version_goes(start):
    """Kills a book whose Python never starts again after Pyodide was renewed, and pictures that pile up."""
    start.page.evaluate("""async () => {
      await (await caches.open("rankzero-python")).put("/_static/vendor/pyodide/?0.1.2", new Response("old"));
    }""")
    first = start()
    assert first["pictures"] == [False]
    start.page.wait_for_function("""async () => {
      const kept = await (await caches.open("rankzero-python")).keys();
      return kept.length === 1 && !kept[0].url.endsWith("?0.1.2");
    }""")
    assert start()["pictures"] == [True]

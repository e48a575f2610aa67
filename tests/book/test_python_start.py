"""Python in the page starts once: the second start begins from the picture that the first one left, and a reader who
waits sees how far a start is.

Pictures stand on options of Pyodide that are its own affair (``_makeSnapshot``, ``_loadSnapshot``); these tests say
whether the pinned version still has them."""

from __future__ import annotations

import json
import re

import pytest

from tools.common import VENDOR

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

#: Starts Python, and says whether it was handed a picture each time it was loaded, what it computes, and what was told.
START = """async ([base, ...bundles]) => {
  const kept = await caches.open("rankzero-python");
  const plain = window.plainLoad = window.plainLoad || window.loadPyodide;
  const pictures = [], told = [];
  window.loadPyodide = (options) => (pictures.push("_loadSnapshot" in options), plain(options));
  const python = await startPython(base, (progress) => told.push(progress), bundles);
  const value = python.runPython("import rankzero.facts.units as units; units.GiB");
  const house = bundles.includes("check.json");
  const here = async () => (await kept.keys()).some(({ url }) => !house || url.includes("-"));
  while (!(await here())) await new Promise((done) => setTimeout(done, 50));
  return { pictures, value, told, kept: (await kept.keys()).map(({ url }) => url) };
}"""


@pytest.fixture
def start(site, visit):
    """``start(bundle)`` starts Python in one page of a fresh profile; ``start.page`` is the page."""
    watch = visit(f"{site}/book/intro.html")
    for name in ("vendor/pyodide/pyodide.js", "python-start.js"):
        watch.page.add_script_tag(url=f"{site}/_static/{name}")

    def again(bundle="python.json"):
        return watch.page.evaluate(START, [f"{site}/_static/", bundle])

    again.page = watch.page
    return again


def test_the_second_start_begins_from_a_picture(start):
    """Both starts give a Python that computes with our modules, and the first says how far it is: no more than all."""
    first, second = start(), start()
    assert (first["pictures"], second["pictures"]) == ([False], [True])
    assert first["value"] == second["value"] == 2**30
    last = first["told"][-1]
    assert 0.9 * last["total"] < last["done"] <= last["total"]
    assert [[told["kept"] for told in start["told"]][-1] for start in (first, second)] == [False, True]


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


def test_the_picture_of_the_house_replaces_the_plain_one(start):
    """An explorer's start leaves a plain picture; a check begins from it, and leaves that of the house, from which both
    begin from then on: a check then fetches no module at all."""
    plain = start()
    first, second, explorer = start("check.json"), start("check.json"), start()
    assert [one["pictures"] for one in (plain, first, second, explorer)] == [[False], [True], [True], [True]]
    assert len(plain["kept"]) == len(first["kept"]) == 1
    assert plain["kept"] != first["kept"] == second["kept"] == explorer["kept"]
    assert {one["value"] for one in (plain, first, second, explorer)} == {2**30}
    assert first["told"][-1]["total"] > second["told"][-1]["total"] + 2e6


@pytest.mark.parametrize("bundle", ["python.json", "check.json"])
def test_a_picture_that_is_no_good_is_thrown_away(start, bundle):
    """Kills a page that cannot start Python any more: the start is a plain one, and has all of its modules."""
    found = start(bundle)
    start.page.evaluate(
        """async (url) => {
      const kept = await caches.open("rankzero-python");
      const bytes = new Uint8Array(await (await kept.match(url)).arrayBuffer());
      await kept.put(url, new Response(bytes.fill(7, 0, 32)));
    }""",
        found["kept"][0],
    )
    broken = start.page.evaluate(
        """async ([base, bundle]) => {
          const python = await startPython(base, () => {}, [bundle]);
          const value = python.runPython("import rankzero.facts.units as units; units.GiB");
          return [value, await caches.has("rankzero-python")];
        }""",
        [start.page.url.split("/book/")[0] + "/_static/", bundle],
    )
    assert broken == [2**30, False]


def test_a_start_without_pictures_is_a_plain_one(start):
    """Kills a page that depends on options of Pyodide which another version may not have."""
    start.page.evaluate("""() => {
      const plain = window.loadPyodide;
      window.loadPyodide = async (options) => {
        if ("_loadSnapshot" in options) throw new Error("no such option");
        const python = await plain(options);
        return Object.assign(Object.create(python), { makeMemorySnapshot() { throw new Error("no such function"); } });
      };
    }""")
    code = """async (base) => {
      const python = await startPython(base, () => {}, ["check.json"]);
      await (await caches.open("rankzero-python")).put("/x", new Response("x"));
      return python.runPython("from autograder.learner import in_page; in_page.WIDEST");
    }"""
    base = start.page.url.split("/book/")[0] + "/_static/"
    assert start.page.evaluate(code, base) == 400


#: Presses *Check*, and hands back all that the place beside the button says before the verdict is there.
SAID = """(id) => new Promise((answer) => {
  const bench = document.querySelector(`[data-work="${id}"]`), said = [];
  const status = bench.querySelector(".rz-status"), result = bench.querySelector(".rz-result");
  new MutationObserver(() => said.push(status.textContent)).observe(status, { childList: true, subtree: true });
  new MutationObserver(() => result.textContent && answer(said)).observe(result, { childList: true });
  bench.querySelector(".rz-check").click();
})"""


def test_the_first_check_says_how_far_the_start_is(site, visit, html):
    """Kills a wait in silence: megabytes are counted up to the size of the start before the first verdict comes, and
    the next page says that they were kept from before. Screen readers hear neither count."""
    sizes = json.loads((html / "_static" / "vendor" / "start.json").read_text())["bytes"]
    size = sum(sizes[name] for name in ("pyodide", "check.json", "broker.json")) / 1e6
    watch = visit(f"{site}/book/03-collectives.html")
    said = watch.page.evaluate(SAID, "03-ring-all-reduce-time")
    counted = [found for text in said if (found := re.fullmatch(r"Starting Python … (\d+) of (\d+) MB", text))]
    megabytes = [int(found[1]) for found in counted]
    assert {found[2] for found in counted} == {f"{size:.0f}"}
    assert megabytes == sorted(megabytes)
    assert len(set(megabytes)) > 3
    assert said[-1] == ""
    watch.page.wait_for_function("async () => (await (await caches.open('rankzero-python')).keys()).length")
    watch.page.reload()
    again = watch.page.evaluate(SAID, "03-ring-all-reduce-time")
    kept = sizes["pyodide"] / 1e6
    assert f"Starting Python … {kept:.0f} of {kept:.0f} MB, kept from before" in again
    assert watch.problems == []

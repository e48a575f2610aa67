"""Python in the page starts once: the second start begins from the picture that the first one left, and a reader who
waits sees how far a start is. The picture of the house, from which checks and ranks start, is made after the first
verdict by a worker of its own, or by the ranks' broker.

Pictures stand on options of Pyodide that are its own affair (``_makeSnapshot``, ``_loadSnapshot``); these tests say
whether the pinned version still has them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.book.conftest import proof
from tools.common import VENDOR

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

HOUSE = ("check.json", "broker.json")

#: Starts Python, and says whether it was handed a picture each time it was loaded, what it computes, and what was told.
START = """async ([base, ...bundles]) => {
  const kept = await caches.open("rankzero-python");
  const plain = window.plainLoad = window.plainLoad || window.loadPyodide;
  const pictures = [], told = [];
  window.loadPyodide = (options) => (pictures.push("_loadSnapshot" in options), plain(options));
  let lacks = false;
  const given = { lacks: ({ module }) => { lacks = module instanceof WebAssembly.Module; } };
  const { python, left } = await begin(base, (progress) => told.push(progress), bundles, given);
  const value = python.runPython("import rankzero.facts.units as units; units.GiB");
  await left;
  return { pictures, value, told, lacks, kept: (await kept.keys()).map(({ url }) => url) };
}"""

#: The keys of the pictures that are kept, as soon as there are any, or that of the house alone: it ends with a stamp.
KEPT = """async ([house]) => {
  const kept = await caches.open("rankzero-python");
  const found = async () => (await kept.keys()).map(({ url }) => new URL(url).search);
  const here = (keys) => keys.length && (!house || keys.every((key) => key.includes("-")));
  while (!here(await found())) await new Promise((done) => setTimeout(done, 50));
  return found();
}"""

#: The key of the plain picture, in a list.
PLAIN = "async () => [`?${(await (await fetch('../_static/vendor/start.json')).json()).version}`]"

#: Has a check begin, and hands back what it comes to.
CHECK = """() => rankzeroCheck.check({ id: "02-message-time", source: "def message_time(): pass", others: {} },
  { began() {}, say() {} })"""


def house_of(page):
    """The keys of what is kept, once the picture of the house is."""
    return page.evaluate(KEPT, [True])


class Workers:
    """The names of the workers that a page has started, and of those that are there."""

    def __init__(self, page):
        self.page, self.started, self.here = page, [], []
        page.on("worker", self._note)

    def _note(self, worker):
        name = worker.url.rpartition("/")[2]
        self.started.append(name)
        self.here.append(name)
        worker.on("close", lambda _: self.here.remove(name))

    def begin(self, name):
        """Whether one of that name starts, in time."""
        return comes(self.page, lambda: f"{name}-worker.js" in self.started)

    def end(self, name):
        """Whether none of that name is there any more, in time."""
        return comes(self.page, lambda: f"{name}-worker.js" not in self.here)


def comes(page, true):
    """Whether something becomes true within four minutes, while the page goes on."""
    for _ in range(2400):
        if true():
            return True
        page.wait_for_timeout(100)
    return False


@pytest.fixture
def start(site, visit):
    """``start(*bundles)`` starts Python in one page of a fresh profile; ``start.page`` is the page."""
    watch = visit(f"{site}/book/intro.html")
    for name in ("vendor/pyodide/pyodide.js", "python-start.js"):
        watch.page.add_script_tag(url=f"{site}/_static/{name}")

    def again(*bundles):
        return watch.page.evaluate(START, [f"{site}/_static/", *(bundles or ["python.json"])])

    again.page = watch.page
    return again


@proof
def test_the_second_start_begins_from_a_picture(start):
    """Both starts give a Python that computes with our modules, and the first says how far it is: no more than all."""
    first, second = start(), start()
    assert (first["pictures"], second["pictures"]) == ([False], [True])
    assert first["value"] == second["value"] == 2**30
    last = first["told"][-1]
    assert 0.9 * last["total"] < last["done"] <= last["total"]
    assert [[told["kept"] for told in start["told"]][-1] for start in (first, second)] == [False, True]


@proof
def test_a_picture_of_another_version_goes(start):
    """Kills a book whose Python never starts again after Pyodide was renewed, and pictures that pile up."""
    start.page.evaluate("""async () => {
      await (await caches.open("rankzero-python")).put("/_static/vendor/pyodide/?0.1.2", new Response("old"));
    }""")
    first = start()
    assert first["pictures"] == [False]
    gone = """async () => {
      const kept = await caches.open("rankzero-python");
      while ((await kept.keys()).length > 1) await new Promise((done) => setTimeout(done, 50));
      return (await kept.keys()).map(({ url }) => url.endsWith("?0.1.2"));
    }"""
    assert start.page.evaluate(gone) == [False]
    assert start()["pictures"] == [True]


@proof
def test_the_picture_of_the_house_replaces_the_plain_one(start):
    """An explorer's start leaves a plain picture. A check begins from it, and says that the other one can be made; the
    broker makes it, and all begin from it then: a check fetches no module at all."""
    plain, first, broker = start(), start("check.json"), start(*HOUSE)
    second, explorer = start("check.json"), start()
    starts = (plain, first, broker, second, explorer)
    assert [one["pictures"] for one in starts] == [[False], *[[True]] * 4]
    assert [one["lacks"] for one in starts] == [True, True, False, False, False]
    assert len(plain["kept"]) == len(second["kept"]) == 1
    assert plain["kept"] == first["kept"] != second["kept"] == explorer["kept"]
    assert {one["value"] for one in starts} == {2**30}
    assert first["told"][-1]["total"] > second["told"][-1]["total"] + 2e6


def test_a_plain_picture_does_not_replace_that_of_the_house(start):
    """Kills a page that throws the better one away because its own start began before that was there."""
    found = start.page.evaluate(
        """async ([base]) => {
          const told = await (await fetch(`${base}vendor/start.json`)).json();
          const { plain, house } = keysOf(`${base}vendor/pyodide/`, told);
          const kept = await caches.open("rankzero-python");
          await kept.put(house, new Response("house"));
          const is = await keepPicture(plain, new Uint8Array(8), house);
          return [is, (await kept.keys()).map(({ url }) => url === house)];
        }""",
        [start.page.url.split("/book/")[0] + "/_static/"],
    )
    assert found == [False, [True]]


@proof
def test_what_was_kept_stays_where_there_is_no_room(start):
    """Kills a page that throws the old picture away before the new one is kept."""
    plain = start()
    start.page.evaluate("""() => {
      Cache.prototype.put = () => Promise.reject(new DOMException("no room", "QuotaExceededError"));
    }""")
    base = start.page.url.split("/book/")[0] + "/_static/"
    start.page.evaluate(
        "async ([base, ...house]) => { await (await begin(base, () => {}, house, {})).left; }", [base, *HOUSE]
    )
    assert start()["kept"] == plain["kept"]


@proof
@pytest.mark.parametrize("bundles", [["python.json"], ["check.json"], HOUSE])
def test_a_picture_that_is_no_good_is_thrown_away(start, bundles):
    """Kills a page that cannot start Python any more: the start is a plain one, and has all of its modules."""
    found = start(*bundles)
    start.page.evaluate(
        """async (url) => {
      const kept = await caches.open("rankzero-python");
      const bytes = new Uint8Array(await (await kept.match(url)).arrayBuffer());
      await kept.put(url, new Response(bytes.fill(7, 0, 32)));
    }""",
        found["kept"][0],
    )
    broken = start.page.evaluate(
        """async ([base, ...bundles]) => {
          const python = await startPython(base, () => {}, bundles);
          const value = python.runPython("import rankzero.facts.units as units; units.GiB");
          return [value, await caches.has("rankzero-python")];
        }""",
        [start.page.url.split("/book/")[0] + "/_static/", *bundles],
    )
    assert broken == [2**30, False]


@proof
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
      const lacks = () => { throw new Error("nothing was kept"); };
      const python = await startPython(base, () => {}, ["check.json"], { lacks });
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


@proof
def test_the_first_check_says_how_far_the_start_is(site, visit, html):
    """Kills a wait in silence: megabytes are counted up to the size of the start before the first verdict comes, and
    the next page says that they were kept from before. Screen readers hear neither count."""
    sizes = json.loads((html / "_static" / "vendor" / "start.json").read_text())["bytes"]
    size = sum(sizes[name] for name in ("pyodide", "check.json")) / 1e6
    watch = visit(f"{site}/book/03-collectives.html")
    said = watch.page.evaluate(SAID, "03-ring-all-reduce-time")
    counted = [found for text in said if (found := re.match(r"Starting Python … (\d+) of (\d+) MB", text))]
    megabytes = [int(found[1]) for found in counted]
    assert {found[2] for found in counted} == {f"{size:.0f}"}
    assert megabytes == sorted(megabytes)
    assert len(set(megabytes)) > 3
    assert said[-1] == ""
    house_of(watch.page)
    watch.page.reload()
    again = watch.page.evaluate(SAID, "03-ring-all-reduce-time")
    kept = sizes["pyodide"] / 1e6
    assert any(text.startswith(f"Starting Python … {kept:.0f} of {kept:.0f} MB, kept from before") for text in again)
    assert any(text.startswith("Preparing the check …") for text in again)
    assert watch.problems == []


#: Begins a wait; and how far it is, as it can be seen, and as it is read aloud.
WAIT = """() => {
  const status = document.createElement("span");
  document.body.append(status);
  window.waiting = status;
  rankzeroWait.show(status);
}"""
WAITING = """(progress) => {
  if (progress) rankzeroWait.show(waiting, rankzeroWait.STARTING, rankzeroWait.arrived(progress));
  const aloud = [...waiting.childNodes].filter((node) => node.ariaHidden !== "true");
  return [waiting.textContent, aloud.map((node) => node.textContent).join("")];
}"""


def test_a_wait_says_what_is_done_and_counts_the_seconds(site, visit):
    """Kills "15 of 15 MB" that stands still: when all files are here it says what comes, and seconds go on from word to
    word. They are not read aloud, and they end with the wait.
    """
    page = visit("about:blank").page
    page.clock.install()
    page.goto(f"{site}/book/intro.html")
    page.evaluate(WAIT)
    assert page.evaluate(WAITING, None) == ["Starting Python … ", "Starting Python …"]
    page.clock.run_for(5000)
    assert page.evaluate(WAITING, None) == ["Starting Python … 5 s", "Starting Python …"]
    half = page.evaluate(WAITING, {"done": 7e6, "total": 15e6, "kept": False})
    assert half == ["Starting Python … 7 of 15 MB, 5 s", "Starting Python …"]
    page.evaluate(WAITING, {"done": 15e6, "total": 15e6, "kept": True})
    page.clock.run_for(15_000)
    all_here = "Starting Python … 15 of 15 MB, kept from before, now it sets itself up, 20 s"
    assert page.evaluate(WAITING, None) == [all_here, "Starting Python …"]
    page.evaluate("rankzeroWait.show(waiting, rankzeroWait.PREPARING)")
    page.clock.run_for(1000)
    assert page.evaluate(WAITING, None) == ["Preparing the check … 21 s", "Preparing the check …"]
    page.evaluate("waiting.textContent = 'done'")
    page.clock.run_for(5000)
    assert page.evaluate("waiting.textContent") == "done"


@proof
def test_without_a_network_every_wait_ends_with_that_word(site, visit):
    """A check, an explorer and both kinds of cell say what could not be loaded, why, and what to press; with a network,
    a file that is missing has no such reason.
    """
    page = visit(f"{site}/book/03-collectives.html").page
    page.evaluate("rankzeroWork.change('03-ring-all-reduce-time', { source: 'x = 1', state: 'wrong' })")
    page.context.set_offline(True)
    places = {
        "#rz-03-ring-all-reduce-time .rz-check": ("#rz-03-ring-all-reduce-time .rz-bench .rz-status", "Press Check to"),
        ".rz-own:not([hidden]) button": (".rz-own:not([hidden]) .rz-status", "Press the button to"),
        ".rz-ranks button": (".rz-ranks .rz-status", "Press Run to"),
    }
    for button, (status, press) in places.items():
        page.locator(button).first.click()
        expect(page.locator(status).first).to_contain_text(
            "could not be loaded, as there is no network.", timeout=60_000
        )
        assert page.locator(status).first.inner_text().endswith(f"{press} try again.")
    figure = page.locator(".rz-explorer").first
    figure.locator("fieldset").dispatch_event("pointerdown")
    expect(figure.locator(".rz-status")).to_contain_text("as there is no network. Press a control", timeout=60_000)
    page.context.set_offline(False)
    assert page.evaluate("rankzeroWait.why({ message: 'Python could not be loaded' })") == "Python could not be loaded"


# The picture of the house, after the first verdict.

#: Milliseconds after a verdict in which the worker that makes the picture would have started.
REST = 3000


@proof
def test_the_verdict_comes_before_the_picture_of_the_house(site, visit):
    """Kills a first check that makes it while the reader waits, a worker that stays, and a picture that is made twice:
    it is there soon after, the next page begins from it, and no further worker starts for it."""
    watch = visit(f"{site}/book/intro.html")
    workers = Workers(watch.page)
    assert "html" in watch.page.evaluate(CHECK)
    assert workers.started == ["check-worker.js"]
    (plain,) = watch.page.evaluate(KEPT, [False])
    assert "-" not in plain
    (house,) = house_of(watch.page)
    assert house.startswith(f"{plain}-")
    assert workers.end("house")
    assert workers.started == ["check-worker.js", "house-worker.js"]
    watch.page.reload(wait_until="load")
    assert "html" in watch.page.evaluate(CHECK)
    watch.page.wait_for_timeout(REST)
    assert workers.started == ["check-worker.js", "house-worker.js", "check-worker.js"]
    assert house_of(watch.page) == [house]
    assert watch.problems == []


@dataclass
class Tab:
    """A page whose worker makes the picture of the house and waits for one of its files."""

    page: Any
    workers: Workers
    asked: list[Any]


@pytest.fixture
def making(site, visit):
    """A tab in which a check has come to its verdict; the first request for the file gets no answer."""
    page = visit(f"{site}/book/intro.html").page
    tab = Tab(page, Workers(page), [])

    def answer(route):
        tab.asked.append(route)
        if len(tab.asked) > 1:
            route.fallback()

    page.context.route("**/broker.json", answer)
    page.evaluate(CHECK)
    assert comes(page, lambda: tab.asked)
    assert tab.workers.here == ["check-worker.js", "house-worker.js"]
    return tab


@pytest.fixture
def other(making, site):
    """Another tab of the same browser, with the scripts that start Python."""
    page = making.page.context.new_page()
    page.goto(f"{site}/book/intro.html")
    for name in ("vendor/pyodide/pyodide.js", "python-start.js"):
        page.add_script_tag(url=f"{site}/_static/{name}")
    return page


@proof
def test_a_press_comes_before_the_picture_of_the_house(making):
    """Kills a worker that takes the processor from a check: it ends at once, and another makes the picture later."""
    making.page.evaluate(CHECK)
    assert making.workers.end("house")
    assert len(house_of(making.page)) == 1
    assert making.workers.started == ["check-worker.js", *["house-worker.js"] * 2]
    assert len(making.asked) == 2


@proof
def test_ranks_come_before_the_picture_of_the_house(making, site, other):
    """Kills ranks that wait for it, and a worker that goes on beside them: the broker makes the picture itself, also
    where another tab is at it."""
    assert other.evaluate(START, [f"{site}/_static/", *HOUSE])["pictures"] == [True]
    assert making.workers.end("house")
    assert len(making.asked) == 2
    assert len(house_of(other)) == 1


@proof
def test_two_tabs_make_one_picture(making, other):
    """The second one's worker finds that the first one's is at it, and ends."""
    workers = Workers(other)
    other.evaluate(CHECK)
    assert workers.begin("house")
    assert workers.end("house")
    assert len(making.asked) == 1
    assert "house-worker.js" in making.workers.here
    assert other.evaluate(KEPT, [False]) == other.evaluate(PLAIN)


@proof
def test_a_tab_that_closes_in_the_middle_leaves_what_was_there(making, other):
    """Half a picture is none: the plain one is still there, and the next page makes the other."""
    making.page.close()
    assert other.evaluate(KEPT, [False]) == other.evaluate(PLAIN)
    other.evaluate(CHECK)
    assert len(house_of(other)) == 1

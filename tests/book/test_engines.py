"""The scripts that start Python for a page, on small pages of their own: which worker goes, and which one is asked."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from tests.book.conftest import proof
from tools import site as tool
from tools.common import BOOK, VENDOR
from tools.serve import server

pytestmark = pytest.mark.browser

PAGE = """<!DOCTYPE html><html data-content_root="../"><head><title>A page</title></head>
<body><article><h1>A page</h1></article>
<script src="../_static/check-engine.js"></script><script src="../_static/ranks-engine.js"></script></body></html>"""
#: A book, one in a folder of its path, and one in a folder of that one's.
NESTED = ("", "courses", "courses/rank-zero")


def book(folder: Path) -> Path:
    """A built book of one page."""
    (folder / "_static").mkdir(parents=True)
    (folder / "book").mkdir()
    (folder / "book" / "page.html").write_text(PAGE)
    for script in ("offline.js", "offline-worker.js", "check-engine.js", "ranks-engine.js"):
        shutil.copy(BOOK / "_static" / script, folder / "_static" / script)
    return folder


#: Whether the page may have ranks, and the books whose workers were asked for that.
ISOLATED = """async () => {
  const asked = (await caches.keys()).filter((key) => key.startsWith("rankzero-isolated"));
  return [crossOriginIsolated, ...asked];
}"""


def address(host: str, name: str, title: str) -> str:
    """Of a page of one of the books; of the book itself without a title."""
    return "/".join([host, *filter(None, [name]), f"book/{title}.html" if title else ""])


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The address of a static host, which sends no headers for ranks, with three books."""
    root = tmp_path_factory.mktemp("host")
    tool.make(book(tmp_path_factory.mktemp("built") / "html"), root / "made")
    (root / "made" / "book" / "new.html").write_text(PAGE)  # without the script that registers the worker at once
    for name in NESTED:
        shutil.copytree(root / "made", root / "all" / name, dirs_exist_ok=True)
    with server(root / "all") as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def page(browser, host, monkeypatch):
    monkeypatch.setattr("tools.serve.ISOLATION", ())
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", NESTED)
def test_ranks_ask_the_worker_of_their_own_book(page, host, name):
    """Kills a button that loads the page once more for nothing: the worker of a book further up in the path is active
    for this page too, and adds headers to its own book's pages alone."""
    for other in NESTED:
        if other != name:
            page.goto(address(host, other, "page"))
            page.locator("html[data-offline=ready]").wait_for()
    page.goto(address(host, name, "new"))
    assert not page.evaluate("crossOriginIsolated")
    with page.expect_navigation(wait_until="load"):
        page.evaluate("() => { rankzeroRanks.mend(); }")
    assert page.evaluate(ISOLATED) == [True, f"rankzero-isolated {address('', name, '')}"]


#: Workers that answer at once, with so many bytes of memory as ``page_bytes`` says, and what became of them.
WORKERS = """
  window.workers = [];
  window.Worker = class {
    constructor() { this.ended = false; workers.push(this); }
    terminate() { this.ended = true; }
    postMessage({ ticket }) {
      setTimeout(() => {
        for (const told of [{ up: true }, { reply: "{}", bytes: window.page_bytes }]) {
          if (!this.ended) this.onmessage({ data: { ticket, ...told } });
        }
      });
    }
  };"""
ASK = """async ([how, bytes]) => {
  window.page_bytes = bytes;
  await rankzeroCheck[how]({}, { began() {}, say() {}, again() {} });
  return workers.map(({ ended }) => ended);
}"""
GiB = 2**30


@pytest.mark.parametrize("how", ["check", "run", "warm"])
def test_a_python_that_has_grown_beyond_a_gibibyte_is_not_kept(page, host, how):
    """Kills: gigabytes that a page holds for as long as it is open, since the memory of WebAssembly never shrinks."""
    page.add_init_script(WORKERS)
    page.goto(address(host, "", "new"))
    assert page.evaluate(ASK, [how, GiB]) == [False]
    assert page.evaluate(ASK, [how, GiB + 1]) == [True]
    assert page.evaluate(ASK, [how, 100]) == [True, False]


FULL = """async (sources) => {
  const quiet = { began() {}, say() {}, again() {} };
  const states = [];
  for (const source of sources) {
    states.push((await rankzeroCheck.check({ id: "02-message-time", source, others: {} }, quiet)).state);
  }
  return states;
}"""
TIME = "def message_time(message_bytes, bandwidth, latency=0.0):\n    return latency + message_bytes / bandwidth\n"


@proof
@pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)")
def test_a_program_that_fills_its_memory_takes_its_python_with_it(visit, site):
    """Kills a worker that does not say how much it holds. The next check is as any other."""
    page = visit(f"{site}/book/03-collectives.html").page
    page.set_default_timeout(240_000)
    ended = []
    page.on("worker", lambda worker: worker.on("close", lambda _: ended.append(worker.url.rpartition("/")[2])))
    (first,) = page.evaluate(FULL, [TIME])
    assert "check-worker.js" not in ended
    assert page.evaluate(FULL, [f"full = bytearray(1 << 30)\n{TIME}"]) == [first]
    assert page.evaluate(FULL, [TIME]) == [first]
    assert ended.count("check-worker.js") == 1

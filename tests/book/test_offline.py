"""Without a network: what was visited opens, what was not says why, and books on one host leave each other alone."""

from __future__ import annotations

import functools
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tools import site as tool
from tools.common import BOOK
from tools.serve import server

pytestmark = pytest.mark.browser

PAGE = """<!DOCTYPE html><html data-content_root="../"><head><title>{name} &#8212; A book</title></head>
<body><article><h1>{name}</h1></article></body></html>"""
NAMES = ("visited", "other", "third")


def book(folder: Path) -> Path:
    """A built book of three small pages."""
    static = folder / "_static"
    static.mkdir(parents=True)
    (folder / "book").mkdir()
    (folder / "index.html").write_text(PAGE.format(name="entrance"))
    for name in NAMES:
        (folder / "book" / f"{name}.html").write_text(PAGE.format(name=name))
    for script in ("offline.js", "offline-worker.js"):
        shutil.copy(BOOK / "_static" / script, static / script)
    return folder


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """The address of a host with two books, one of them in a folder of the other's path."""
    root = tmp_path_factory.mktemp("host")
    built = book(tmp_path_factory.mktemp("built") / "html")
    for name in ("courses", "courses/rank-zero"):
        (built / "book" / "third.html").write_text(PAGE.format(name=f"third of {name}"))  # so that their stamps differ
        tool.make(built, root / "made")
        shutil.copytree(root / "made", root / name, dirs_exist_ok=True)
    with server(root) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def visit(page, address: str) -> None:
    """Open a page and let the worker keep it."""
    page.goto(address)
    page.locator("html[data-offline=ready]").wait_for()


@pytest.mark.proof(part="pages")
def test_a_page_that_was_not_visited_says_why(page, host):
    """Kills the browser's own error page. What opens is listed, and the page comes when the network does."""
    visit(page, f"{host}/courses/book/visited.html")
    assert page.locator(".rz-offline").inner_text() == ""
    page.context.set_offline(True)
    page.locator(".rz-offline", has_text="There is no network.").wait_for()
    reply = page.goto(f"{host}/courses/book/other.html")
    assert reply.status == 503
    assert page.locator("h1").inner_text() == "There is no network"
    assert page.locator("li").all_inner_texts() == ["visited"]
    page.get_by_role("link", name="visited").click()
    page.wait_for_url("**/visited.html")
    page.locator(".rz-offline", has_text="There is no network.").wait_for()
    page.goto(f"{host}/courses/book/other.html")
    page.context.set_offline(False)
    page.locator("h1", has_text="other").wait_for()


def test_the_page_without_a_network_waits_for_one(page, host):
    """Kills a page that comes only if the browser announces the network, or in place of the one that is chosen now."""
    visit(page, f"{host}/courses/book/visited.html")
    page.context.set_offline(True)
    page.goto(f"{host}/courses/book/other.html")
    page.evaluate("removeEventListener('online', load)")
    page.context.set_offline(False)
    page.evaluate("async () => { dispatchEvent(new Event('beforeunload')); await load() }")
    assert page.locator("h1").inner_text() == "There is no network"
    page.locator("h1", has_text="other").wait_for()


@pytest.mark.parametrize("order", [("courses", "courses/rank-zero"), ("courses/rank-zero", "courses")])
def test_two_books_on_one_host(page, host, order):
    """Kills a book whose first visit deletes what another one of the same host keeps for offline readers."""
    for name in order:
        visit(page, f"{host}/{name}/book/visited.html")
    page.context.set_offline(True)
    for name in order:
        tab = page.context.new_page()  # not the one before, which loads anew as soon as it believes in a network
        tab.goto(f"{host}/{name}/book/visited.html")
        assert tab.locator("h1").inner_text() == "visited"
        tab.goto(f"{host}/{name}/book/third.html")
        assert tab.locator("h1").inner_text() == "There is no network"
        kept = tab.locator("li a").evaluate_all("(links) => links.map((link) => link.pathname)")
        assert f"/{name}/book/visited.html" in kept


class Lasting(SimpleHTTPRequestHandler):
    """A host whose files browsers keep for an hour without asking again."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


LOAD = "async (name) => (await fetch(`/_static/vendor/${name}.json`)).text()"


def test_a_large_file_of_the_book_before_does_not_stay(page, tmp_path):
    """Kills a copy of what the browser itself kept of the old book, for a file that a page loaded and for another."""
    book(tmp_path / "html")
    tool.make(tmp_path / "html", tmp_path / "site")
    vendor = tmp_path / "site" / "_static" / "vendor"
    vendor.mkdir()

    def write(text: str, seconds: int) -> None:
        for name in ("loaded", "wanted"):
            (vendor / f"{name}.json").write_text(text)
            os.utime(vendor / f"{name}.json", (seconds, seconds))

    handler = functools.partial(Lasting, directory=tmp_path / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}"
        write("old", 1_000_000_000)
        page.goto(f"{address}/_static/offline.js")
        assert [page.evaluate(LOAD, name) for name in ("loaded", "wanted")] == ["old", "old"]
        write("new", 1_000_000_060)
        page.add_init_script(f"({LOAD})('loaded')")
        visit(page, f"{address}/book/visited.html")
        assert [page.evaluate(LOAD, name) for name in ("loaded", "wanted")] == ["new", "new"]
        running.shutdown()


PICTURES = """async () => {
  const [mine, old, theirs] = ["/a ?2", "/a ?1", "/b ?1"]
    .map((path) => new URL(path.replace(" ", "/_static/vendor/pyodide/"), location.href).href);
  const kept = await caches.open("rankzero-python");
  for (const key of [old, theirs]) await kept.put(key, new Response("x"));
  const left = async () => (await caches.has("rankzero-python") ? (await kept.keys()).map(({ url }) => url) : []);
  await keepPicture(mine, new Uint8Array(1));
  const after = await left();
  await forgetPictures(mine.split("?")[0]);
  return [after.includes(mine), after.includes(old), after.includes(theirs), (await left()).join() === theirs];
}"""


def test_the_pictures_of_python_of_two_books(page, host):
    """Kills a start that deletes the other book's picture, so that each visit to one makes the other slow."""
    page.goto(f"{host}/courses/book/visited.html")
    page.add_script_tag(path=str(BOOK / "_static" / "python-start.js"))
    assert page.evaluate(PICTURES) == [True, False, True, True]

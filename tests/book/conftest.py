"""The built book, over HTTP and from disk, and a browser that notes every error and every request that would leave.

Loading a page costs several seconds of processor time, so the tests of a page share it: they run one after another in
one process, and ``shared`` hands each of them the page as if it had just been opened.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from rankzero.facts.chapters import CHAPTERS, Chapter
from tools import browser as chrome
from tools.build_book import notebooks
from tools.common import CACHE, HTML, ROOT
from tools.serve import server

#: A test that ``make proof`` runs, and ``make test`` does not.
proof = pytest.mark.proof(part="pages")

HEIGHT = 900

#: Milliseconds for a start of Python in five workers, on a machine that other tests keep busy.
RANKS_START = 240_000

#: The pages that are taught anew, chapters and deeper pages; chapters 8 to 14 follow.
TAUGHT = [
    f"book/{name}.html" for one in CHAPTERS if one.number in {*range(1, 8), 15} for name in (one.page, one.deeper)
]

#: A page of each kind, the one with most on it first: ``make test`` opens these, and ``make proof`` all the others.
KINDS = (
    "book/03-collectives.html",  # cards, steppers, an explorer, functions, cells of ranks
    "book/intro.html",
    "book/reference/numbers-that-disagree.html",
)

#: Lifts the veils from results, before the page's own scripts run; a page without storage stays as it is.
EVERYTHING = "try { localStorage.setItem('rankzero:everything', 'yes'); } catch {}"

#: Takes back what tests do to a page: answers, marks, and parts that they unfolded.
AS_OPENED = """() => {
  if (window.rankzero) rankzero.forget([...document.querySelectorAll(".rz-card form")].map(
    (form) => form.closest(".rz-card").id.slice("rz-".length)));
  document.querySelectorAll(".rz-card form").forEach((form) => form.reset());
  document.querySelectorAll(".rz-mark, .rz-feedback").forEach((node) => node.replaceChildren());
  document.querySelectorAll("article details").forEach((fold) => {
    fold.dataset.opened ??= fold.open;
    fold.open = fold.dataset.opened === "true";
  });
}"""


STORED = "(key) => localStorage.getItem(key)"
STORE = "([key, text]) => localStorage.setItem(key, text)"


def go_with(page, key: str, url: str) -> None:
    """Open ``url`` with what the page before it stored under ``key``.

    What a page from disk stores may reach the next one late or not at all when that comes within an instant: then it is
    stored again. A reader is never that fast.
    """
    text = page.evaluate(STORED, key)
    assert text, key
    for _ in range(10):
        page.goto(url)
        if page.evaluate(STORED, key) == text:
            return
        page.evaluate(STORE, [key, text])
        page.wait_for_timeout(200)
    raise AssertionError(f"{key} was not kept")


@dataclass
class Watch:
    """A page of the browser with what went wrong on it."""

    page: object
    problems: list[str] = field(default_factory=list)

    def note(self, kind: str, text: str) -> None:
        self.problems.append(f"{kind}: {text}")

    def note_failure(self, request) -> None:
        """A request without an answer, unless it was given up because the page was left."""
        if request.failure != "net::ERR_ABORTED":
            self.note("request failed", request.url)


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built book, built by one process (nothing is done again when nothing changed); the folder of a
    build that is there already, where ``RANKZERO_HTML`` names one."""
    if built := os.environ.get("RANKZERO_HTML"):
        return Path(built)
    with FileLock(CACHE / "book.lock"):
        built = subprocess.run([sys.executable, "-m", "tools.build_book"], cwd=ROOT, capture_output=True, text=True)
    if built.returncode:
        last = (built.stdout + built.stderr).strip().splitlines()[-1]
        pytest.fail(f"make book failed: {last}", pytrace=False)
    return HTML


@pytest.fixture(scope="session")
def site(html: Path) -> Iterator[str]:
    """The address of the served book."""
    with server(html) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture(scope="session")
def addresses(html: Path, site: str) -> dict[str, str]:
    """The two ways to open the book: served, and from disk."""
    return {"http": site, "file": html.as_uri()}


def _watched(context, scripts: bool) -> Watch:
    page = context.new_page()
    watch = Watch(page)

    def guard(route) -> None:
        if chrome.local(route.request.url):
            route.continue_()
        else:
            watch.note("request leaves the machine", route.request.url)
            route.abort()

    context.route("**/*", guard)
    page.on("pageerror", lambda error: watch.note("script error", str(error)))
    page.on("console", lambda said: watch.note("console", said.text) if said.type == "error" else None)
    if scripts:  # forbidden scripts are fetched ahead and dropped
        page.on("requestfailed", lambda request: watch.note_failure(request))
    page.on(
        "response",
        lambda reply: watch.note("not found", f"{reply.status} {reply.url}") if reply.status >= 400 else None,
    )
    return watch


@dataclass(frozen=True)
class Opened:
    """How a page is opened: its address, the profile of the browser, and whether results wait for an answer."""

    url: str
    width: int = 1280
    scheme: str = "light"
    scripts: bool = True
    veiled: bool = False


def _open(browser, how: Opened) -> Watch:
    context = browser.new_context(
        viewport={"width": how.width, "height": HEIGHT},
        color_scheme=how.scheme,
        java_script_enabled=how.scripts,
        service_workers="block",
    )
    if not how.veiled:
        context.add_init_script(EVERYTHING)
    watch = _watched(context, how.scripts)
    watch.page.goto(how.url, wait_until="load")
    return watch


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Watch]]:
    """``visit(url, width=1280, scheme="light", scripts=True, veiled=False)`` opens a fresh browser profile there; all
    results are shown unless ``veiled``."""
    watches: list[Watch] = []

    def open_page(url: str, **profile) -> Watch:
        watches.append(_open(browser, Opened(url, **profile)))
        return watches[-1]

    yield open_page
    for watch in watches:
        watch.page.context.close()


@pytest.fixture(scope="session")
def open_pages(browser) -> Iterator[dict[tuple[str, bool, bool], tuple[str, Watch]]]:
    """The page that is open, and its name, by way, by whether scripts run, and by whether results wait for an answer:
    one of each at most."""
    found: dict[tuple[str, bool, bool], tuple[str, Watch]] = {}
    yield found
    for _, watch in found.values():
        watch.page.context.close()


@pytest.fixture
def shared(browser, addresses, open_pages) -> Callable[..., Watch]:
    """``shared("http", name, scripts=True, veiled=False)``: a page of the book without answers, with everything folded
    as it was, at 1280 px and in light colours, with all results shown unless ``veiled``. What went wrong on it before
    is still in ``problems``."""

    def open_page(way: str, name: str, scripts: bool = True, veiled: bool = False) -> Watch:
        before, watch = open_pages.get((way, scripts, veiled), ("", None))
        if watch is None or before != name:
            if watch is not None:
                watch.page.context.close()
            watch = _open(browser, Opened(f"{addresses[way]}/{name}", scripts=scripts, veiled=veiled))
            open_pages[way, scripts, veiled] = name, watch
        watch.page.set_viewport_size({"width": 1280, "height": HEIGHT})
        watch.page.emulate_media(color_scheme="light")
        if scripts:
            watch.page.evaluate(AS_OPENED)
        return watch

    return open_page


@pytest.fixture(scope="session")
def ranks_page(browser, site, html) -> Iterator[Any]:
    """The first chapter that was built, over HTTP, with all results shown: its ranks, once started, stay."""
    names = (path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks())
    first = next(name for name in names if (html / name).exists())
    context = browser.new_context(viewport={"width": 1280, "height": HEIGHT})
    context.set_default_timeout(RANKS_START)
    context.add_init_script(EVERYTHING)
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(f"{site}/{first}", wait_until="load")
    yield page
    context.close()


def page_of(item: pytest.Item) -> str:
    """The page that a test of the browser looks at, or nothing."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    page = str(parameters.get("chapter") or parameters.get("name") or "")
    return page if item.get_closest_marker("browser") and page.endswith(".html") else ""


def opened(item: pytest.Item) -> str:
    """The page that a test opens or whose programs it runs in the browser, or nothing."""
    if not hasattr(item, "callspec") or "browser" not in item.fixturenames:
        return ""
    match item.callspec.params:
        case {"path": Path() as path}:
            return path.relative_to(ROOT).with_suffix(".html").as_posix()
        case {"chapter": Chapter(page=page)}:
            return f"book/{page}.html"
    return page_of(item)


def leave_to_proof(items: list[pytest.Item]) -> None:
    """Of a test that opens many pages, ``make test`` looks at those of :data:`KINDS`, or at the first one where it has
    none of them: at all of these where the test is about any page (``name``), and at one where it is about something on
    it (``chapter``, ``path``). From disk it opens one."""
    tests = defaultdict(list)
    for item in items:
        if page := opened(item):
            tests[item.function].append((page, item))
    for found in tests.values():
        pages = [page for page, _ in found]
        kept = [page for page in KINDS if page in pages] or pages[:1]
        for page, item in found:
            one = "name" not in item.callspec.params or item.callspec.params.get("way") == "file"
            if page not in kept[: 1 if one else None]:
                item.add_marker(proof)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one page stand together, and one process runs them."""
    for item in items:
        if page := page_of(item):
            item.add_marker(pytest.mark.xdist_group(page))
    items.sort(key=page_of)
    leave_to_proof(items)

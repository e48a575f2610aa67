"""The book at home anywhere: under a path of a host, in a frame, from disk, and without a network after a visit."""

from __future__ import annotations

import shutil
import threading

import pytest

from tests.book.conftest import Opened, _open, _watched, proof
from tools import site as tool
from tools.browser import settle
from tools.build_book import notebooks
from tools.common import ROOT
from tools.serve import Quiet, server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("published site")]


@pytest.fixture(scope="module")
def home(html, tmp_path_factory):
    """The site in a folder of a host, and a page of it that was built."""
    root = tmp_path_factory.mktemp("host")
    tool.make(html, root / "courses" / "rank-zero")
    names = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks()]
    page = next(name for name in names if (html / name).exists())
    yield root, page
    shutil.rmtree(root)


class Static(Quiet):
    """A host that knows nothing of ranks."""

    def send_header(self, keyword: str, value: str) -> None:
        if not keyword.startswith("Cross-Origin-"):
            super().send_header(keyword, value)


@pytest.fixture(scope="module")
def host(home):
    """The address of that folder's parent."""
    with server(home[0], handler=Static) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@proof
def test_under_a_path(host, home, visit):
    """Kills an address that begins at the host's root: from the entrance to a page, nothing is missing."""
    watch = visit(f"{host}/courses/rank-zero/")
    watch.page.wait_for_url("**/courses/rank-zero/book/intro.html")
    watch.page.goto(f"{host}/courses/rank-zero/{home[1]}")
    settle(watch.page)
    assert watch.page.locator("form fieldset:enabled").count() > 0
    assert watch.problems == []


@proof
def test_from_disk(home, visit):
    """A page of the site's folder, opened as a file, asks for no worker and misses nothing."""
    watch = visit((home[0] / "courses" / "rank-zero" / home[1]).as_uri())
    assert watch.page.locator("form fieldset:enabled").count() > 0
    assert watch.problems == []


@proof
def test_in_a_frame(host, home, browser):
    """A page of a school shows the book in a frame: its cards live."""
    (home[0] / "school.html").write_text(f'<iframe src="courses/rank-zero/{home[1]}" width="900" height="600">')
    watch = _open(browser, Opened(f"{host}/school.html"))
    frame = watch.page.frame_locator("iframe")
    frame.locator(".rz-card form fieldset:enabled").first.wait_for(state="attached")
    assert frame.locator("article h1").inner_text().strip()
    assert watch.problems == []
    watch.page.context.close()


@pytest.mark.proof(part="pages")
def test_a_page_that_was_visited(browser, host, home):
    """Its worker adds the headers without which no ranks can start, after one more load. It opens again without a
    network, with its styles and scripts: cards live and formulas have their faces. With one, a new book is seen at
    once: kills a worker that answers from its copies then."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    watch = _watched(context, scripts=True)
    page, file = watch.page, home[0] / "courses" / "rank-zero" / home[1]
    page.goto(f"{host}/courses/rank-zero/{home[1]}", wait_until="load")
    page.locator("html[data-offline=ready]").wait_for()
    state = page.evaluate("rankzeroRanks.state()")
    assert (state["able"], state["mend"]) == (False, True)
    old = file.read_text(encoding="utf-8")
    try:
        file.write_text(old.replace("</h1>", " renewed</h1>"), encoding="utf-8")
        with page.expect_navigation(wait_until="load"):
            page.evaluate("() => { rankzeroRanks.mend(); }")
        assert page.evaluate("rankzeroRanks.state()")["able"]
        assert "renewed" in page.locator("article h1").inner_text()
    finally:
        file.write_text(old, encoding="utf-8")
    context.set_offline(True)
    page.reload(wait_until="load")
    assert page.locator("form fieldset:enabled").count() > 0
    assert page.evaluate("() => getComputedStyle(document.querySelector('.rz-card')).borderLeftWidth") == "3px"
    assert [problem for problem in watch.problems if "script error" in problem] == []
    context.close()

"""The built book, over HTTP and from disk, and a browser that notes every error and every request that would leave."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from filelock import FileLock

from tools import browser as chrome
from tools.common import CACHE, HTML, ROOT
from tools.serve import server


@dataclass
class Watch:
    """A page of the browser with what went wrong on it."""

    page: object
    problems: list[str] = field(default_factory=list)

    def note(self, kind: str, text: str) -> None:
        self.problems.append(f"{kind}: {text}")


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built book, built by one process (nothing is done again when nothing changed)."""
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
        page.on("requestfailed", lambda request: watch.note("request failed", request.url))
    page.on(
        "response",
        lambda reply: watch.note("not found", f"{reply.status} {reply.url}") if reply.status >= 400 else None,
    )
    return watch


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Watch]]:
    """``visit(url, width=1280, scheme="light", scripts=True)`` opens a fresh browser profile there."""
    contexts = []

    def open_page(url: str, width: int = 1280, scheme: str = "light", scripts: bool = True) -> Watch:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=scripts,
            service_workers="block",
        )
        contexts.append(context)
        watch = _watched(context, scripts)
        watch.page.goto(url, wait_until="load")
        return watch

    yield open_page
    for context in contexts:
        context.close()

"""Headless Chromium for tests and screenshots: found on the machine, cut off from the network."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tools.common import CACHE
from tools.prepare import BROWSERS

AXE = CACHE / "axe-core" / "axe.min.js"  # for tests and benchmarks; no page has it

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def executable() -> str | None:
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def local(url: str) -> bool:
    """Whether a request for ``url`` stays on this machine."""
    parts = urlsplit(url)
    return parts.scheme in {"file", "data", "blob", "about"} or parts.hostname in {"127.0.0.1", "localhost"}


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser (Playwright's ``Browser``).

    Raises:
        FileNotFoundError: there is no Chromium on this machine.
    """
    from playwright.sync_api import sync_playwright

    path = executable()
    if path is None:
        raise FileNotFoundError("Chromium is not installed (make debian)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def settle(page: Any, seconds: float = 0.5) -> None:
    """Wait until no request of a loaded page has begun or ended for ``seconds``.

    (Playwright's ``networkidle`` counts the requests in flight, and sometimes never comes although all were answered.)
    """
    last = [time.monotonic()]

    def note(_request: Any) -> None:
        last[0] = time.monotonic()

    events = ("request", "requestfinished", "requestfailed")
    for event in events:
        page.on(event, note)
    while time.monotonic() - last[0] < seconds:
        page.wait_for_timeout(1000 * seconds / 10)
    for event in events:
        page.remove_listener(event, note)

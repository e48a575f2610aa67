"""A screenshot of a page of the built book: ``python -m tools.screenshot [PAGE] [--at SELECTOR] [--out FILE]``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from threading import Thread
from typing import Literal, get_args

from tools.browser import chromium
from tools.common import HTML, ROOT, fail, say
from tools.serve import server

Scheme = Literal["light", "dark"]


def picture(address: str, out: Path, selector: str, width: int, height: int, scheme: Scheme) -> None:
    """Open ``address``, scroll to ``selector`` and save the screenshot."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(address, wait_until="load")
        page.locator(selector).first.evaluate("node => window.scrollTo(0, node.getBoundingClientRect().top - 90)")
        page.evaluate("() => document.fonts.ready")
        out.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(out))


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.screenshot", description=__doc__.split(":", 1)[0])
    parser.add_argument("page", nargs="?", default="book/03-collectives.html", help="page of the built book")
    parser.add_argument("--at", default="h1", metavar="SELECTOR", help="what to show at the top (CSS)")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "page.png", help="file to write")
    parser.add_argument("--width", type=int, default=1280, help="pixels")
    parser.add_argument("--height", type=int, default=860, help="pixels")
    parser.add_argument("--scheme", choices=get_args(Scheme), default="light", help="colours")
    arguments = parser.parse_args(argv)
    if not (HTML / arguments.page).is_file():
        return fail(f"there is no page {arguments.page}: run make book")
    with server() as running:
        Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}/{arguments.page}"
        try:
            picture(address, arguments.out, arguments.at, arguments.width, arguments.height, arguments.scheme)
        except FileNotFoundError as error:
            return fail(str(error))
        finally:
            running.shutdown()
    say(f"wrote {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What the first press of an explorer costs on a page and on the page opened again: ``python -m benchmarks.first_press
[--html FOLDER] [--page book/03-collectives]``.

One profile of headless Chromium opens the page twice. Each time the first slider is moved once. Counted until the chart
is drawn: processor time of all processes of the browser, seconds that the reader waits, and bytes that the server sent.
Exit status 1 when the second press costs more than half of the first.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks._rows import Row, arguments, finish
from tools.browser import chromium, settle
from tools.common import HTML
from tools.serve import Quiet, server

MOST_RATIO = 0.5
#: An explorer is in sight once its question is answered, or everything is shown.
EVERYTHING = "localStorage.setItem('rankzero:everything', 'yes')"
#: Waits until the picture of Python's memory is kept.
KEPT = """async () => {
  while (!(await caches.has("rankzero-python"))) await new Promise((later) => setTimeout(later, 50));
}"""


def processor_time() -> float:
    """Of all processes that this one started, seconds; one that ends takes its share along."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            used = child.cpu_times()
            total += used.user + used.system
        except psutil.Error:
            continue
    return total


def press(page: Any, address: str, sent: list[int]) -> dict[str, float]:
    """Open the page, move its first slider, and wait for the chart."""
    page.goto(address)
    settle(page)
    figure = page.locator("figure.rz-explorer:has(input[type=range])").first
    bytes_before, used, began = sum(sent), processor_time(), time.perf_counter()
    figure.locator("input[type=range]").first.press("PageUp")
    page.wait_for_function("(node) => node.dataset.state", arg=figure.element_handle(), timeout=300_000)
    waited, used = time.perf_counter() - began, processor_time() - used
    page.evaluate(KEPT)
    settle(page)
    return {"processor time, s": round(used, 2), "waited, s": round(waited, 2), "bytes": sum(sent) - bytes_before}


def counting(sent: list[int]) -> type[Quiet]:
    """The server's handler, which notes how long each answer's body is."""

    class Counting(Quiet):
        def send_header(self, keyword: str, value: str) -> None:
            if keyword == "Content-Length":
                sent.append(int(value))
            super().send_header(keyword, value)

    return Counting


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--html", type=Path, default=HTML, help="folder of the built book")
    parser.add_argument("--page", default="book/03-collectives", help="page of it with an explorer")
    options = parser.parse_args(argv)
    sent: list[int] = []
    with server(options.html, handler=counting(sent)) as running, chromium() as browser:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}/{options.page}.html"
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_init_script(EVERYTHING)
        first, second = (press(context.new_page(), address, sent) for _ in range(2))
        running.shutdown()
    ratio = second["processor time, s"] / first["processor time, s"]
    print(json.dumps({"first time": first, "opened again": second, "ratio": round(ratio, 2)}, indent=1))
    name = "processor time, s"
    press_row = Row(
        "first press of an explorer on a page opened again",
        *(second[name], "s", "on the page opened first", first[name]),
        fair="One profile; processor time of all of the browser's processes until the chart is drawn.",
        most=MOST_RATIO,
        goal="ratio",
    )
    return finish([press_row], options)


if __name__ == "__main__":
    sys.exit(main())

"""How long a reader waits for the first check on a page, beside Pyodide's own start:
``python -m benchmarks.first_check [--html FOLDER] [--item 03-ring-all-reduce-time] [--repeats 5]``.

Headless Chromium opens the item's page in a fresh profile, writes the reference into the card and presses *Check*. In
turns with it, Pyodide alone is started in a worker of the same page, in a profile as fresh. Each profile then opens the
page again and does the same, as a reader does on the next page. Counted until the verdict is shown, or Pyodide is up:
processor time of the worker's thread, in which Python runs, and seconds that the reader waits. Only the first can be
compared on a machine that does other things as well. The least of the repetitions counts, as other work adds to it.
After the first verdict another worker makes the picture from which the next page starts. Nobody waits for it, but it is
work: "all processes" counts those of the browser, until Pyodide is up, until the verdict, and from there until the
picture is kept; its ratio is that of everything to Pyodide.
Exit status 1 when the first check takes more than 1.5 times Pyodide's first start, or the check on the next page more
than half of the first. Linux alone tells the time of a thread.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from autograder import bank
from autograder.items import Build
from benchmarks._rows import Row, arguments, finish
from rankzero.facts import chapters
from tools.browser import chromium, settle
from tools.common import HTML, ROOT
from tools.serve import ISOLATION, server

#: What is aimed at: the first check beside Pyodide's first start, and the check on the next page beside the first.
MOST_RATIO, MOST_AGAIN = 1.5, 0.5
#: What a start leaves for the next one is written after it, within this time in milliseconds.
SETTLED = 2000

#: Waits for the picture from which the next page's checks start: its key ends with the stamp of our modules.
PICTURED = """async () => {
  const kept = await caches.open("rankzero-python");
  const there = async () => (await kept.keys()).some(({ url }) => new URL(url).search.includes("-"));
  while (!(await there())) await new Promise((done) => setTimeout(done, 200));
}"""

#: Starts Pyodide with nothing else, in a worker; the milliseconds until it is up.
START = """(folder) => new Promise((answer, fail) => {
  const code = `importScripts("${folder}pyodide.js");
    loadPyodide({ indexURL: "${folder}" }).then(() => postMessage("up"), (error) => { throw error; });`;
  const began = performance.now(), worker = new Worker(URL.createObjectURL(new Blob([code])));
  worker.onerror = ({ message }) => fail(new Error(message));
  worker.onmessage = () => answer(performance.now() - began);
})"""

#: Writes a program into its card and presses the button; the milliseconds until the verdict is there, and its text.
CHECK = """([id, source]) => new Promise((answer) => {
  window.rankzeroBenches.benches.get(id).set(source);
  const bench = document.querySelector(`[data-work="${id}"]`), result = bench.querySelector(".rz-result");
  const began = performance.now();
  new MutationObserver(() => result.textContent && answer([performance.now() - began, result.textContent]))
    .observe(result, { childList: true });
  bench.querySelector(".rz-check").click();
})"""


class Cost(NamedTuple):
    """What somebody waits, and processor time, in seconds: of the worker's thread, and of all processes until then and
    afterwards."""

    waited: float
    used: float
    whole: float
    after: float


def processor_time() -> float:
    """Of all processes that this one started, in seconds."""
    total = 0.0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            used = child.cpu_times()
            total += used.user + used.system
    return total


def worker_times() -> dict[str, float]:
    """Processor time of each worker's thread in the processes that this one started, in seconds, by its number."""
    found = {}
    for process in psutil.Process().children(recursive=True):
        for thread in Path(f"/proc/{process.pid}/task").glob("*"):
            with contextlib.suppress(OSError):  # it ended meanwhile
                if (thread / "comm").read_text().startswith("DedicatedWorker"):
                    found[thread.name] = int((thread / "schedstat").read_text().split()[0]) / 1e9
    return found


def program(item: Build) -> str:
    """The reference as a program that stands alone: its module, with imports by their full names."""
    package = f"solutions.{item.home.partition('.')[0]}"
    source = (ROOT / "solutions" / item.file).read_text(encoding="utf-8")
    return source.replace("from ..", "from solutions.").replace("from .", f"from {package}.")


def start(page: Any, item: Build) -> float:
    """Seconds of a start of Pyodide alone."""
    return page.evaluate(START, page.url.split("/book/")[0] + "/_static/vendor/pyodide/") / 1000


def start_plainly(route: Any) -> None:
    """Answer with the worker of checks as it is where nothing can be kept."""
    worker, given = (ROOT / "book/_static/check-worker.js").read_text(encoding="utf-8"), '["check.json"], { lacks }'
    if worker.count(given) != 1:
        raise RuntimeError(f"check-worker.js must say {given} once")
    body = worker.replace(given, '["check.json"], { plain: true }')
    route.fulfill(body=body, content_type="text/javascript", headers=dict(ISOLATION))


def check(page: Any, item: Build) -> float:
    """Seconds from the press to the verdict."""
    waited, verdict = page.evaluate(CHECK, [item.id, program(item)])
    if f"{len(item.cases)} of {len(item.cases)}" not in verdict:
        raise RuntimeError(f"the reference of {item.id} was not found right: {verdict[:200]}")
    return waited / 1000


def picture_afterwards(page: Any) -> float:
    """Processor time of all processes until the picture for the next page is kept."""
    before = processor_time()
    page.evaluate(PICTURED)
    return processor_time() - before


def visits(
    browser: Any, address: str, item: Build, act: Callable[[Any, Build], float], plain: bool = False
) -> list[Cost]:
    """What ``act`` costs on the page in a fresh profile, and on the page opened again in the same one; ``plain`` if no
    picture of Python's memory may be made or used."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, service_workers="block")
    context.set_default_timeout(300_000)
    if plain:
        context.route("**/check-worker.js", start_plainly)
    costs = []
    for _ in range(2):
        page = context.new_page()
        page.goto(address)
        settle(page)
        page.wait_for_function("() => window.rankzeroBenches")
        before, whole = worker_times(), processor_time()
        waited = act(page, item)
        used = max(used for thread, used in worker_times().items() if thread not in before)
        whole = processor_time() - whole
        costs.append(Cost(waited, used, whole, picture_afterwards(page) if act is check and not plain else 0.0))
        settle(page)
        page.wait_for_timeout(SETTLED)
        page.close()
    context.close()
    return costs


def least(costs: Sequence[Cost]) -> Cost:
    """The least of each figure."""
    return Cost(*map(min, zip(*costs, strict=True)))


def rounded(figures: dict[str, float]) -> dict[str, float]:
    """The figures as printed."""
    return {name: round(value, 2) for name, value in figures.items()}


def row(start: Cost, check: Cost) -> dict[str, Any]:
    """The two beside each other, as printed."""
    figures = {"Pyodide": start.used, "check": check.used, "ratio": check.used / start.used}
    waits = {"Pyodide waited": start.waited, "check waited": check.waited, "ratio waited": check.waited / start.waited}
    whole = {"Pyodide": start.whole, "check": check.whole, "picture afterwards": check.after}
    ratio = {"ratio": (check.whole + check.after) / start.whole}
    return rounded(figures | waits) | {"all processes": rounded(whole | ratio)}


def rows(first: dict[str, Any], again: dict[str, Any]) -> list[Row]:
    """The first check of a reader, and that on the next page."""
    fair = "A fresh profile each; processor time of the thread in which Python runs, the least of the repetitions."
    return [
        Row(
            "first check of a function in a page",
            *(first["check"], "s", "a start of Pyodide with nothing else", first["Pyodide"]),
            fair=fair,
            most=MOST_RATIO,
            goal="ratio",
        ),
        Row(
            "the same, as a reader waits for it",
            *(first["check waited"], "s", "a start of Pyodide with nothing else", first["Pyodide waited"]),
            fair="The same runs by the clock, so with all that the machine did meanwhile.",
        ),
        Row(
            "check on the next page",
            *(again["check"], "s", "the first check", first["check"]),
            fair="The same profile, which keeps a picture of Python's memory.",
            most=MOST_AGAIN,
            goal="ratio",
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--html", type=Path, default=HTML, help="folder of the built book")
    parser.add_argument("--item", default="03-ring-all-reduce-time", help="a function of plain Python")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(argv)
    item = bank.find(options.item)
    assert isinstance(item, Build)
    costs: dict[tuple[str, int], list[Cost]] = {}
    with server(options.html) as running, chromium() as browser:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}/book/{chapters.of_item(item.id).page}.html"
        for _ in range(options.repeats):
            for act in (start, check):
                for place, cost in enumerate(visits(browser, address, item, act)):
                    costs.setdefault((act.__name__, place), []).append(cost)
        running.shutdown()
    found = [row(least(costs["start", place]), least(costs["check", place])) for place in range(2)]
    again = round(found[1]["check"] / found[0]["check"], 2)
    told = {"item": item.id, "first page": found[0], "next page": found[1], "next over first": again}
    print(json.dumps(told, indent=1))
    return finish(rows(*found), options)


if __name__ == "__main__":
    sys.exit(main())

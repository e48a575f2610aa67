"""What ranks in a page cost: ``python -m benchmarks.page_ranks [--html FOLDER] [--repeats 3]``.

Headless Chromium opens a chapter's page in a fresh profile and runs a cell of four ranks that do next to nothing: this
start has no picture of Python's memory. The page opened again in the same profile has one. Counted from the press until
the cell has run: processor time of all of the browser's processes, which is what can be compared on a busy machine, and
the seconds that a reader waits. Beside that, 1,000 messages between two ranks that run already; memory of the page's
process (its proportional share) with one, two and four ranks over the page alone; and the first check of a function on
the page opened again, beside the same check there where no picture can be kept, and beside a start of Pyodide with
nothing else there. The page before it made the picture after its own check: "picture after the first check" is the
processor time of all processes for that. The least of the repetitions counts. Exit status 1 when four ranks with a
picture take more than 3 s of processor time or 600 MB, or the check on the next page more than a fifth of the one
without a picture. Linux alone tells the memory of a process and the time of a thread.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from autograder import bank
from autograder.items import Build
from benchmarks import first_check
from benchmarks._rows import Row, arguments, finish
from benchmarks.first_check import processor_time
from rankzero.facts import chapters
from tools.browser import chromium, settle
from tools.common import HTML
from tools.serve import server

MOST_SECONDS, MOST_MEGABYTES, MOST_SHARE = 3.0, 600, 1 / 5
PAGE = "book/01-first-program"
NEXT, PLAIN, ALONE = "check on the next page, s", "check without a picture, s", "Pyodide alone, s"
AFTER = "picture after the first check, s"
#: What a start leaves for the next one is written after it, within this time in milliseconds.
SETTLED = 2000

RUN = """async ([ranks, messages]) => {
  const before = "import torch\\nimport torch.distributed as dist\\nfrom rankzero import world\\n"
    + "def ping(messages):\\n"
    + "    x, other = torch.zeros(1), 1 - dist.get_rank()\\n"
    + "    for number in range(messages):\\n"
    + "        if number % 2 == dist.get_rank():\\n"
    + "            dist.send(x, other)\\n"
    + "        else:\\n"
    + "            dist.recv(x, other)\\n";
  const code = `world.run(ping, ${messages}, ranks=${ranks})`;
  const began = performance.now();
  const request = { cell: { functions: {}, before, code }, own: {}, others: {}, ranks: null };
  const { why } = await rankzeroRanks.run(request, {});
  if (why) throw new Error(why);
  return (performance.now() - began) / 1000;
}"""


def memory() -> float:
    """Of the largest renderer, MB: its proportional share of what it uses."""
    found = [0.0]
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error, OSError):
            if any("type=renderer" in part for part in child.cmdline()):
                rows = Path(f"/proc/{child.pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
                found.append(sum(int(row.split()[1]) for row in rows if row.startswith("Pss:")) * 1024 / 1e6)
    return max(found)


def opened(context: Any, address: str) -> Any:
    """A page that has come to rest."""
    page = context.new_page()
    page.set_default_timeout(300_000)
    page.goto(address)
    settle(page)
    page.wait_for_function("() => window.rankzeroRanks")
    return page


def start(context: Any, address: str) -> dict[str, float]:
    """From the press to four ranks that have run, and 1,000 messages between two of them."""
    page = opened(context, address)
    alone, used = memory(), processor_time()
    waited = page.evaluate(RUN, [4, 0])
    told = {"processor time, s": processor_time() - used, "waited, s": waited, "memory, MB": memory() - alone}
    used = processor_time()
    waited = page.evaluate(RUN, [2, 1000])
    told |= {"1,000 messages, s of processor time": processor_time() - used, "1,000 messages, s": waited}
    page.wait_for_timeout(SETTLED)
    page.close()
    return told


def memories(context: Any, address: str) -> dict[str, float]:
    """Memory of so many ranks and their broker, over that of the page alone, MB."""
    found = {}
    for ranks in (1, 2, 4):
        page = opened(context, address)
        alone = memory()
        page.evaluate(RUN, [ranks, 0])
        found[f"{ranks}"] = round(memory() - alone)
        page.close()
    return found


def check_again(browser: Any, address: str, item: Build) -> dict[str, float]:
    """The first check on the page opened again, the same without a picture, and Pyodide's own start: processor time of
    the worker's thread. All three are second visits, in a profile that has every file."""
    first, again = first_check.visits(browser, address, item, first_check.check)
    _, plain = first_check.visits(browser, address, item, first_check.check, plain=True)
    _, alone = first_check.visits(browser, address, item, first_check.start)
    return {NEXT: again.used, PLAIN: plain.used, ALONE: alone.used, AFTER: first.after}


def least(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """The least of each figure."""
    return {name: round(min(one[name] for one in found), 2) for name in found[0]}


def measured(browser: Any, root: str, item: Build, repeats: int) -> dict[str, Any]:
    """All figures."""
    page, checked = f"{root}/{PAGE}.html", f"{root}/book/{chapters.of_item(item.id).page}.html"
    firsts, nexts, checks = [], [], []
    for _ in range(repeats):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        firsts.append(start(context, page))
        nexts.append(start(context, page))
        sizes = memories(context, page)
        context.close()
        checks.append(check_again(browser, checked, item))
    check = least(checks)
    shares = {"share": check[NEXT] / check[PLAIN], "share of Pyodide alone": check[NEXT] / check[ALONE]}
    told = {"without a picture": least(firsts), "with a picture": least(nexts), "memory by ranks, MB": sizes}
    return told | check | {name: round(share, 3) for name, share in shares.items()}


def rows(told: dict[str, Any]) -> list[Row]:
    """Ranks and checks in a page, with the picture of Python's memory and without."""
    first, again, time = told["without a picture"], told["with a picture"], "processor time, s"
    same = "The same cell and page; processor time of all of the browser's processes."
    return [
        Row(
            "four ranks in a page, from the press until they have run",
            *(again[time], "s", "the first time in a profile", first[time]),
            fair=same,
            most=MOST_SECONDS,
        ),
        Row(
            "the same, as a reader waits for it",
            *(again["waited, s"], "s", "the first time", first["waited, s"]),
            fair="The same cell and page, by the clock.",
        ),
        Row("1,000 messages between two ranks of a page", again["1,000 messages, s"], "s"),
        Row(
            "memory of four ranks, over that of the page",
            *(told["memory by ranks, MB"]["4"], "MB", "one rank", told["memory by ranks, MB"]["1"]),
            fair="The proportional share of the page's process.",
            most=MOST_MEGABYTES,
        ),
        Row(
            "check on the page opened again",
            *(told[NEXT], "s", "where no picture can be kept", told[PLAIN]),
            fair="The same function and page, opened again as well; processor time of the thread in which Python runs.",
            most=MOST_SHARE,
            goal="ratio",
        ),
        Row(
            "check on the page opened again",
            *(told[NEXT], "s", "a start of Pyodide with nothing else", told[ALONE]),
            fair="On the page opened again, in turns with it.",
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--html", type=Path, default=HTML, help="folder of the built book")
    parser.add_argument("--item", default="03-ring-all-reduce-time", help="a function of plain Python")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    item = bank.find(options.item)
    assert isinstance(item, Build)
    with server(options.html) as running, chromium() as browser:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        told = measured(browser, f"http://127.0.0.1:{running.server_port}", item, options.repeats)
        running.shutdown()
    print(json.dumps(told, indent=1))
    return finish(rows(told), options)


if __name__ == "__main__":
    sys.exit(main())

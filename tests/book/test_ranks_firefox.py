"""Ranks in Firefox: a page of ours runs what is run in Chromium, and sends what came out to its own server.

That is every cell that is offered, the reference and the stub of every function of several ranks, what can go wrong,
and one wrong program of each function; with ``RANKZERO_EVERY_SLIP=1`` all of them.

Another page opens a chapter in a tab, has ranks run there, and closes the tab: it asks its server how many threads of
workers Firefox has before, while the tab is open, and after.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest

from tests.book.test_rank_cells import PAGES, as_built, outputs
from tests.book.test_ranks_runtime import (
    BEFORE,
    FLOOD,
    ITEMS,
    MESSAGES,
    SUMS,
    TALK,
    check_mistakes,
    program,
    request,
    stub,
    wrong,
)
from tests.book.test_ranks_runtime import PAGE as RANKS_PAGE
from tools import world_runs
from tools.common import VENDOR
from tools.prepare import FIREFOXES
from tools.serve import Quiet

FIREFOX = next(filter(None, map(shutil.which, FIREFOXES)), None)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.proof(part="firefox"),
    pytest.mark.xdist_group("ranks runtime"),
    pytest.mark.timeout(700),
    pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed"),
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

#: Seconds for everything: Python starts twice, on a machine that other tests keep busy.
LONGEST = 600

CELLS = {
    "sums": SUMS,
    "deadlock": "def meet():\n    x = torch.ones(1)\n    dist.recv(x, 1 - dist.get_rank())\n\nworld.run(meet, ranks=2)",
    "death": "import os\n\ndef dies():\n    os._exit(3)\n\nworld.run(dies, ranks=1)",
    "after death": SUMS,
    "loop": "def loops():\n    while True:\n        pass\n\nworld.run(loops, ranks=2, timeout=1)",
    "stop": "def loops():\n    while True:\n        pass\n\nworld.run(loops, ranks=4)",
    "after stop": SUMS,
    "messages": MESSAGES,
    "talk": TALK,
    "flood": FLOOD,
    "after flood": SUMS,
}

#: Three ranks wait for the fourth, which computes.
WAIT = """\
def waits():
    while dist.get_rank() == 0:
        pass
    dist.barrier()

world.run(waits, ranks=4)
"""

PAGE = """<!doctype html><meta charset="utf-8"><title>Ranks</title><link rel="icon" href="data:,">
<script src="_static/ranks-engine.js"></script><script type="module">
const { before, cells, offered, checks } = WORK;
async function run(name, code) {
  const lines = [];
  const told = {
    began: (place) => place === 0 && name === "stop" && setTimeout(() => rankzeroRanks.stop(), 300),
    say: (line, rank) => rank === null && lines.push(line),
  };
  const request = { cell: { functions: {}, before, code }, own: {}, others: {}, ranks: null };
  return rankzeroRanks.run(request, told).then(({ why }) => [why, ...lines], (error) => [`${error.message}`]);
}
const found = { state: rankzeroRanks.state() };
for (const [name, code] of Object.entries(cells)) found[name] = await run(name, code);
found.offered = [];
for (const cell of offered) {
  const lines = [];
  const told = { say: (line, rank) => rank === null && lines.push(line) };
  const { why } = await rankzeroRanks.run({ cell, own: {}, others: {}, ranks: null }, told);
  found.offered.push([why, lines]);
}
found.checks = [];
for (const request of checks) found.checks.push(await rankzeroRanks.check(request, {}));
await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>"""


def offered() -> dict[tuple[Any, str], Any]:
    """The program of every cell that is offered, by its page and id."""
    every = ((path, world_runs.sorted_out(nbformat.read(path, as_version=4).cells)[0]) for path in PAGES)
    return {(path, name): program for path, programs in every for name, program in programs.items()}


def mistakes() -> list[tuple[Any, str, str]]:
    """Wrong programs with their items and sentences."""
    last = None if os.environ.get("RANKZERO_EVERY_SLIP") == "1" else 1
    return [(item, *pair) for item in ITEMS for pair in wrong(item)[:last]]


def work() -> dict[str, Any]:
    """What the page does."""
    checks = [request(item, write(item)) for write in (program, stub) for item in ITEMS]
    checks += [request(item, source) for item, source, _ in mistakes()]
    cells = [program.data() for program in offered().values()]
    return {"before": BEFORE, "cells": CELLS, "offered": cells, "checks": checks}


#: What is done in a tab before it is closed: a program, and whether it still runs then.
CLOSED = {
    "after a run": [SUMS, False],
    "after a deadlock": [CELLS["deadlock"].replace("ranks=2", "ranks=4"), False],
    "while ranks compute": [CELLS["stop"], True],
    "while ranks wait": [WAIT, True],
}
#: Workers of a tab: the broker and four ranks.
CREW = 5

TABS = """<!doctype html><meta charset="utf-8"><title>Tabs</title><link rel="icon" href="data:,"><script type="module">
const { before, chapter, closed, crew, longest } = WORK;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const workers = async () => (await fetch("/workers")).json();
async function come(wanted) {
  const last = performance.now() + longest;
  let count = await workers();
  for (; !wanted(count) && performance.now() < last; count = await workers()) await pause(500);
  return count;
}
async function opened() {
  const tab = window.open(chapter);
  while (!tab.rankzeroRanks || tab.document.readyState !== "complete") await pause(200);
  return tab;
}
async function pictured() {
  const kept = await caches.open("rankzero-python");
  const last = performance.now() + longest;
  while (performance.now() < last) {
    if ((await kept.keys()).some(({ url }) => url.includes("-"))) return true;
    await pause(200);
  }
  return false;
}
async function picture() {
  const tab = await opened();
  const source = "def message_time(): pass";
  await tab.rankzeroCheck.check({ id: "02-message-time", source, others: {} }, { began() {}, say() {} });
  const there = await pictured();
  tab.close();
  return there;
}
async function close(code, runs) {
  const first = await come((count) => count === 0);
  const tab = await opened();
  const request = { cell: { functions: {}, before, code }, own: {}, others: {}, ranks: null };
  await new Promise((done) => {
    const began = (place) => runs && place === 0 && done();
    tab.rankzeroRanks.run(request, { began }).finally(done);
  });
  await pause(1000);
  const open = await come((count) => count >= crew);
  tab.close();
  return [first, open, await come((count) => count === first)];
}
const found = { picture: await picture() };
for (const [name, [code, runs]] of Object.entries(closed)) found[name] = await close(code, runs);
await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>"""


class Handler(Quiet):
    """Serves the book and one page more, and takes what that page found."""

    page: str
    found: list[dict[str, Any]]
    work: dict[str, Any]
    firefox: list[subprocess.Popen[bytes]]

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        """The page, the number of workers, or a file of the book."""
        if self.path == "/page.html":
            self.answer("text/html", self.page.replace("WORK", json.dumps(self.work).replace("</", "<\\/")))
        elif self.path == "/workers":
            self.answer("application/json", json.dumps(workers(self.firefox[0].pid)))
        else:
            super().do_GET()

    def answer(self, kind: str, text: str) -> None:
        """Send a text."""
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        """What the page found."""
        self.found.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.send_header("Content-Length", "0")
        self.end_headers()


def named(comm: Path) -> str:
    """The name of a process or of a thread; nothing if it has ended."""
    try:
        return comm.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def workers(firefox: int) -> int:
    """How many threads of workers the pages from the web have in a Firefox, whose own pages may have some as well."""
    processes = [Path(f"/proc/{process.pid}") for process in psutil.Process(firefox).children(recursive=True)]
    pages = [process for process in processes if "Web Co" in named(process / "comm")]
    return sum(named(thread) == "DOM Worker" for page in pages for thread in page.glob("task/*/comm"))


def found_in_firefox(html: Any, page: str, work: dict[str, Any]) -> dict[str, Any]:
    """What a page comes to in a fresh profile."""
    handler = type("Found", (Handler,), {"page": page, "found": [], "work": work, "firefox": []})
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(html))) as running,
        tempfile.TemporaryDirectory() as profile,
    ):
        threading.Thread(target=running.serve_forever, daemon=True).start()
        Path(profile, "user.js").write_text('user_pref("dom.disable_open_during_load", false);\n', encoding="utf-8")
        address = f"http://127.0.0.1:{running.server_port}/page.html"
        command = [FIREFOX, "--headless", "--no-remote", "--profile", profile, address]
        firefox = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        handler.firefox.append(firefox)
        last = time.monotonic() + LONGEST
        while not handler.found and time.monotonic() < last:
            time.sleep(0.2)
        firefox.terminate()
        firefox.wait(30)
        running.shutdown()
    assert handler.found, f"nothing came within {LONGEST} s"
    return handler.found[0]


def test_ranks_run_in_firefox(html):
    """Four ranks talk, a deadlock and a death are told in the same words, a loop and Stop end, and references pass."""
    found = found_in_firefox(html, PAGE, work())
    assert found["state"]["able"]
    for name in ("sums", "after death", "after stop", "after flood"):
        assert found[name] == ["", "(6, 6, 6, 6)"], name
    waits = "rank 0 waits in recv(src=1) at line 3; rank 1 waits in recv(src=0) at line 3"
    assert found["deadlock"] == [f"WorldError: deadlock: {waits}"]
    assert found["death"] == ["WorldError: rank 0 died: it left with exit status 3 before its function returned"]
    place = r"is computing at line [23]"
    assert re.fullmatch(rf"WorldError: timed out after 1\.0 s: rank 0 {place}; rank 1 {place}", found["loop"][0])
    assert found["stop"] == ["it was stopped"]
    assert found["messages"] == ["", "(5000.0, 4999.0) 10000 20000"]
    assert re.fullmatch(r"WorldError: rank [01] calls more than 10,000 operations", found["talk"][0])
    assert found["flood"][1].startswith("line 0 ... cut after 1,048,576 bytes; ")
    check_cells(html, found["offered"])
    states = [reply["state"] for reply in found["checks"]]
    count = len(ITEMS)
    assert ({*states[:count]}, {*states[count : 2 * count]}) == ({"right"}, {"unwritten"})
    check_mistakes(mistakes(), found["checks"][2 * count :])


def test_closing_the_tab_leaves_nothing_in_firefox(html):
    """Kills ranks that go on after their page: whatever they do when the tab closes, no thread of theirs is left. The
    page that opens the tabs stays open, so that their process does. A check in the first tab leaves the picture of the
    house, as in Chromium."""
    longest = 90_000  # ms for what has to come
    work = {"before": BEFORE, "chapter": RANKS_PAGE, "closed": CLOSED, "crew": CREW, "longest": longest}
    found = found_in_firefox(html, TABS, work)
    assert found.pop("picture")
    assert {name: (first, last) for name, (first, _, last) in found.items()} == dict.fromkeys(CLOSED, (0, 0))
    assert min(count for _, count, _ in found.values()) >= CREW


def check_cells(html: Any, runs: list[tuple[str, list[str]]]) -> None:
    """Every cell that is offered prints what the build printed."""
    built = {path: outputs(html, path) for path in PAGES}
    for (path, name), (reason, lines) in zip(offered(), runs, strict=True):
        assert (name, reason, as_built(name, lines, built[path][name])) == (name, "", True)

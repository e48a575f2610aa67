"""Ranks in Firefox: a page of ours runs the same cells as in Chromium, and sends what came out to its own server."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from tests.book.test_ranks_runtime import BEFORE, ITEMS, SUMS, program
from tools.common import VENDOR
from tools.prepare import FIREFOXES
from tools.serve import Quiet

FIREFOX = next(filter(None, map(shutil.which, FIREFOXES)), None)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("ranks runtime"),
    pytest.mark.timeout(400),
    pytest.mark.skipif(FIREFOX is None, reason="Firefox is not installed"),
    pytest.mark.skipif(not (VENDOR / "pyodide").is_dir(), reason="Pyodide is not here (make vendor)"),
]

#: Seconds for everything: Python starts twice, on a machine that other tests keep busy.
LONGEST = 300

CELLS = {
    "sums": SUMS,
    "deadlock": "def meet():\n    x = torch.ones(1)\n    dist.recv(x, 1 - dist.get_rank())\n\nworld.run(meet, ranks=2)",
    "death": "import os\n\ndef dies():\n    os._exit(3)\n\nworld.run(dies, ranks=1)",
    "after death": SUMS,
    "loop": "def loops():\n    while True:\n        pass\n\nworld.run(loops, ranks=2, timeout=1)",
    "stop": "def loops():\n    while True:\n        pass\n\nworld.run(loops, ranks=4)",
    "after stop": SUMS,
}

PAGE = """<!doctype html><meta charset="utf-8"><title>Ranks</title><link rel="icon" href="data:,">
<script src="_static/ranks-engine.js"></script><script type="module">
const [before, cells, checks] = WORK;
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
for (const [id, source] of checks) found[id] = (await rankzeroRanks.check({ id, source, others: {} }, {})).state;
await fetch("/found", { method: "POST", body: JSON.stringify(found) });
</script>"""


class Handler(Quiet):
    """Serves the book and one page more, and takes what that page found."""

    found: list[dict[str, Any]]

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        """The page, or a file of the book."""
        if self.path != "/ranks.html":
            super().do_GET()
            return
        work = [BEFORE, CELLS, [[item.id, program(item)] for item in ITEMS]]
        body = PAGE.replace("WORK", json.dumps(work).replace("</", "<\\/")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:  # noqa: N802 - the base class calls it so
        """What the page found."""
        self.found.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.send_header("Content-Length", "0")
        self.end_headers()


def found_in_firefox(html: Any) -> dict[str, Any]:
    """What the page comes to in a fresh profile."""
    handler = type("Found", (Handler,), {"found": []})
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(html))) as running,
        tempfile.TemporaryDirectory() as profile,
    ):
        threading.Thread(target=running.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{running.server_port}/ranks.html"
        command = [FIREFOX, "--headless", "--no-remote", "--profile", profile, address]
        firefox = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
    found = found_in_firefox(html)
    assert found["state"]["able"]
    for name in ("sums", "after death", "after stop"):
        assert found[name] == ["", "(6, 6, 6, 6)"], name
    waits = "rank 0 waits in recv(src=1) at line 3; rank 1 waits in recv(src=0) at line 3"
    assert found["deadlock"] == [f"WorldError: deadlock: {waits}"]
    assert found["death"] == ["WorldError: rank 0 died: it left with exit status 3 before its function returned"]
    place = r"is computing at line [23]"
    assert re.fullmatch(rf"WorldError: timed out after 1\.0 s: rank 0 {place}; rank 1 {place}", found["loop"][0])
    assert found["stop"] == ["it was stopped"]
    assert {found[item.id] for item in ITEMS} == {"right"}

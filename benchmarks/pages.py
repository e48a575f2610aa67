"""How heavy a page of the built book is, beside a default Jupyter Book page of the same text:
``python -m benchmarks.pages [--html FOLDER] [--page book/03-collectives]``.

The default page is made from the same executed notebook with Jupyter Book's own settings; the mathematics script, which
it would take from a content delivery network, is handed to it from this machine; a third row shows the default page
where that script does not arrive, with its formulas as plain TeX. The pages are opened in headless Chromium, in turns,
each time in a fresh profile:

- bytes before interaction: every file that the page asks for, compressed as a server would (gzip);
- main-thread time: processor time of the page's main thread until the page is loaded, its mathematics is set and its
  cards can be answered;
- layout shift (the sum, while the page loads and is scrolled to its end), 1280 px;
- code cells that are cut, and printed results with a line that is broken, 1280 px;
- findings of axe that it calls serious or critical.

Medians of one run on one machine; exit status 1 when a figure is missed.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from benchmarks._rows import Row, arguments, finish
from tools.browser import AXE, chromium, local, settle
from tools.common import CACHE, HTML, ROOT
from tools.execute import places
from tools.serve import server

#: What is aimed at.
MOST_BYTES, MOST_RATIO, MOST_SHIFT = 700_000, 3.0, 0.05
OURS, DEFAULT, BARE = "ours", "default", "default, mathematics not set"
PACKED = (".woff2", ".png", ".whl", ".zip")  # files that are compressed already

OBSERVE = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => {
    if (!hadRecentInput) window.shifted += value;
  })).observe({ type: "layout-shift", buffered: true });
}"""

READY = """() => Promise.resolve(window.MathJax && MathJax.startup && MathJax.startup.promise)
  .then(() => document.fonts.ready)"""

#: The default page has no script that could bring cards to life.
LIVE = "() => !window.rankzero || !document.querySelector('.rz-card[data-card] form fieldset:disabled')"

SCROLL = """async () => {
  for (let y = 0; y < document.documentElement.scrollHeight; y += 800) {
    scrollTo(0, y);
    await new Promise((done) => requestAnimationFrame(done));
  }
  await new Promise((done) => setTimeout(done, 300));
}"""

#: Code cells that show less than they hold, and printed results of which a line takes more than one line.
CUT = """() => [...document.querySelectorAll("article div.cell_input pre")]
  .filter((pre) => pre.scrollWidth > pre.clientWidth + 1).length"""
BROKEN = """() => [...document.querySelectorAll("article div.cell_output pre")].filter((pre) => {
  const style = getComputedStyle(pre), lines = pre.textContent.replace(/\\n$/, "").split("\\n").length;
  const height = pre.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
  return pre.clientHeight && height > (lines + 0.5) * parseFloat(style.lineHeight);
}).length"""
AXE_RUN = """() => axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => [id, nodes.length]))"""


def default_page(page: str, folder: Path) -> Path:
    """Build the executed notebook of ``page`` with Jupyter Book's own settings; the folder of the HTML."""
    from jupyter_book.sphinx import build_sphinx

    notebook = ROOT / f"{page}.ipynb"
    stored = places([notebook], CACHE / "notebooks")[notebook]
    source = folder / "source"
    source.mkdir()
    (source / f"{Path(page).name}.ipynb").write_bytes(stored.read_bytes())
    toc, config = {"format": "jb-book", "root": Path(page).name}, {"execute": {"execute_notebooks": "off"}}
    for name, value in (("_toc.yml", toc), ("_config.yml", config)):
        (source / name).write_text(yaml.safe_dump(value), encoding="utf-8")
    build_sphinx(
        source,
        folder / "html",
        path_config=source / "_config.yml",
        confoverrides={
            "external_toc_path": str(source / "_toc.yml"),
            "suppress_warnings": ["myst.xref_missing"],
            "latex_individualpages": False,
        },
        noconfig=True,
        quiet=True,
        really_quiet=True,
    )
    return folder / "html"


def mathematics() -> bytes:
    """The script that a default page takes from a content delivery network."""
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package sphinx-mathjax-offline is not installed")
    return (Path(spec.origin).parent / "static" / "mathjax" / "tex-chtml.js").read_bytes()


def compressed(url: str, body: bytes) -> int:
    """Bytes of one file as a server sends it."""
    return len(body) if url.split("?")[0].endswith(PACKED) else len(gzip.compress(body, 6))


def measure(browser: Any, address: str, delivers: bool, shown: str = "") -> dict[str, Any]:
    """Open a page in a fresh profile, where the content delivery network delivers or not. With ``shown``, the axe
    script, look at what the page shows as well."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, service_workers="block")
    page, sizes = context.new_page(), {}

    def keep(reply: Any) -> None:
        if reply.ok:
            sizes[reply.url] = compressed(reply.url, reply.body())

    def guard(route: Any) -> None:
        if local(route.request.url):
            route.continue_()
        elif delivers and "mathjax" in route.request.url and route.request.url.endswith(".js"):
            route.fulfill(body=mathematics(), content_type="text/javascript")
        else:
            route.abort()

    context.route("**/*", guard)
    page.on("requestfinished", lambda request: keep(request.response()))
    page.add_init_script(f"({OBSERVE})()")
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address, wait_until="load")
    page.evaluate(READY)
    page.wait_for_function(LIVE)
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    found: dict[str, Any] = {"main thread, s": metrics["TaskDuration"]}
    settle(page)
    found |= {"bytes": sum(sizes.values()), "requests": len(sizes), "scripts, s": metrics["ScriptDuration"]}
    page.evaluate(SCROLL)
    found["layout shift"] = page.evaluate("() => window.shifted")
    if shown:
        page.evaluate("() => document.querySelectorAll('article details').forEach((fold) => { fold.open = true })")
        found |= {"cells cut": page.evaluate(CUT), "results broken": page.evaluate(BROKEN)}
        page.add_script_tag(content=shown)
        found["axe serious"] = dict(page.evaluate(AXE_RUN))
        found["files"] = dict(sorted(sizes.items(), key=lambda item: -item[1]))
    context.close()
    return found


def medians(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median of each number; what was looked at once as it is."""
    found = dict(rounds[-1])
    for name in ("bytes", "requests", "main thread, s", "scripts, s", "layout shift"):
        found[name] = round(statistics.median(one[name] for one in rounds), 4)
    return found


def compare(addresses: dict[str, str], repeats: int) -> dict[str, dict[str, Any]]:
    """Open each page ``repeats`` times, in turns."""
    axe = AXE.read_text(encoding="utf-8")
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in addresses}
    with chromium() as browser:
        for turn in range(repeats):
            for name, address in addresses.items():
                rounds[name].append(measure(browser, address, name != BARE, axe if turn == repeats - 1 else ""))
    return {name: medians(found) for name, found in rounds.items()}


def misses(ours: dict[str, Any], default: dict[str, Any]) -> list[str]:
    """What is aimed at and not reached."""
    reached = {
        f"at most {MOST_BYTES} bytes": ours["bytes"] <= MOST_BYTES,
        f"at most {MOST_RATIO} times the main-thread time": ours["main thread, s"]
        <= MOST_RATIO * default["main thread, s"],
        f"layout shift below {MOST_SHIFT}": ours["layout shift"] < MOST_SHIFT,
        "no code cell cut": not ours["cells cut"],
        "no printed result broken": not ours["results broken"],
        "nothing serious for axe": not ours["axe serious"],
    }
    return [name for name, well in reached.items() if not well]


def rows(found: dict[str, dict[str, Any]], missed: Sequence[str]) -> list[Row]:
    """Our page beside the default one of the same text."""
    ours, default, bare = found[OURS], found[DEFAULT], found[BARE]
    same = "The same executed notebook, opened in a fresh profile, in turns."
    return [
        Row(
            "weight of a page, compressed",
            *(ours["bytes"] / 1e3, "kB", "Jupyter Book's default page", default["bytes"] / 1e3),
            fair=f"{same} The default page takes its mathematics from the network; ours brings them set.",
            most=MOST_BYTES / 1e3,
        ),
        Row(
            "work of the main thread until the page is ready",
            *(ours["main thread, s"], "s", "the default page, mathematics set", default["main thread, s"]),
            fair=same,
        ),
        Row(
            "work of the main thread until the page is ready",
            *(ours["main thread, s"], "s", "the default page, mathematics left as text", bare["main thread, s"]),
            fair=f"{same} What a reader without a network would get.",
            most=MOST_RATIO,
            goal="ratio",
        ),
        Row("shift of the layout while it loads", ours["layout shift"], most=MOST_SHIFT),
        Row(
            "requirements missed (weight, work, shift, code cut, results broken, axe)",
            len(missed),
            most=0,
            missed_by="; ".join(missed),
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--html", type=Path, default=HTML, help="folder of the built book")
    parser.add_argument("--page", default="book/03-collectives", help="page of it, a notebook")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--files", action="store_true", help="list each file with its compressed bytes")
    options = parser.parse_args(argv)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        addresses = {}
        for name, root, path in (
            (DEFAULT, default_page(options.page, folder), Path(options.page).name),
            (OURS, options.html, options.page),
        ):
            running = stack.enter_context(server(root))
            threading.Thread(target=running.serve_forever, daemon=True).start()
            stack.callback(running.shutdown)
            addresses[name] = f"http://127.0.0.1:{running.server_port}/{path}.html"
        found = compare({**addresses, BARE: addresses[DEFAULT]}, options.repeats)
    for row in found.values():
        files = row.pop("files", {})
        if options.files:
            row["files"] = {url.split("/", 3)[-1]: size for url, size in files.items()}
    missed = misses(found[OURS], found[BARE])
    times = {name: row["main thread, s"] for name, row in found.items()}
    ratios = {f"main thread, ours over {name}": round(times[OURS] / times[name], 2) for name in (DEFAULT, BARE)}
    print(json.dumps({**found, **ratios, "missed": missed}, indent=1))
    return finish(rows(found, missed), options)


if __name__ == "__main__":
    sys.exit(main())

"""Which figures of the built book do not fit a phone: ``python -m tools.narrow [PAGE ...] [--sheet FOLDER]``.

Each page is opened at 390 pixels, light and dark, with everything unfolded. The subject of a figure (a picture, a
stepper, a chart and its title, a formula on a line of its own) lies within its column, and no text in a picture is
smaller than nine pixels. Code and tables of text may scroll. Without a PAGE, all pages are opened.
"""

from __future__ import annotations

import argparse
import sys
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

from tools.browser import chromium
from tools.build_book import pages
from tools.common import HTML, ROOT, fail, say
from tools.serve import server

#: The width of the screen, and the smallest text in a picture, pixels.
WIDTH, SMALLEST = 390, 9

#: Lifts the veils from results, before the page's own scripts run.
EVERYTHING = "try { localStorage.setItem('rankzero:everything', 'yes'); } catch {}"

OPENED = "() => document.querySelectorAll('article details').forEach((fold) => { fold.open = true })"

#: A sentence for each thing that breaks the rule. What lies in a box that scrolls is measured where that box begins.
BROKEN = """(smallest) => {
  const article = document.querySelector("article");
  const page = document.documentElement.clientWidth;
  const shown = (node) => node.getClientRects().length > 0;
  const section = (node) => {
    const heads = [...article.querySelectorAll("h1, h2, h3")];
    const before = heads.filter((head) => head.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
    return before.length ? before.at(-1).firstChild.textContent.trim() : "";
  };
  const named = (node) => {
    const box = node.closest("figure, .rz-card, [aria-label]");
    const text = node.getAttribute("aria-label") || box?.querySelector("figcaption b, .rz-title")?.textContent
      || box?.getAttribute("aria-label") || node.querySelector("annotation")?.textContent || node.textContent;
    return text.trim().replace(/\\s+/g, " ").slice(0, 70);
  };
  const scrolls = (box) => box !== document.documentElement && getComputedStyle(box).overflowX !== "visible";
  const column = (node) => {  // the box that shows it: the nearest one that cuts, or the text's own
    const own = article.getBoundingClientRect();
    const style = getComputedStyle(article);
    let [left, right] = [own.left + parseFloat(style.paddingLeft), own.right - parseFloat(style.paddingRight)];
    for (let box = node.parentElement; box && box !== article; box = box.parentElement) {
      if (!scrolls(box)) continue;
      const cut = box.getBoundingClientRect();
      [left, right] = [Math.max(left, cut.left), Math.min(right, cut.right)];
    }
    return [Math.max(left, 0), Math.min(right, page)];
  };
  const wide = (kind, node, box) => {
    const [left, right] = column(node);
    const over = Math.ceil(Math.max(left - box.left, box.right - right));
    return over > 1 ? [`${section(node)} | ${kind} ${over} px outside the column: ${named(node)}`] : [];
  };
  const around = (nodes) => {
    const boxes = nodes.map((node) => node.getBoundingClientRect()).filter((box) => box.width);
    return { left: Math.min(...boxes.map((box) => box.left)), right: Math.max(...boxes.map((box) => box.right)) };
  };
  const pictures = [...article.querySelectorAll("svg:not(.rz-icon), img, canvas")]
    .filter((node) => shown(node) && !node.parentElement.closest("svg, .katex"));
  const found = pictures.flatMap((node) => {
    const parts = [node, ...node.querySelectorAll("text")].filter(shown);
    return wide(node.closest(".rz-stepper") ? "stepper" : node.closest(".rz-chart") ? "chart" : "picture",
      node, around(parts));
  });
  const formulas = [...article.querySelectorAll(".katex-display")].filter(shown);
  for (const node of formulas) {
    const bases = [...node.querySelectorAll(".katex-html :is(.katex-base, .tag)")].filter(shown);
    if (bases.length) found.push(...wide("formula", bases[0], around(bases)).map((text) =>
      text.replace(/: .*$/, `: ${node.querySelector("annotation").textContent.trim().slice(0, 70)}`)));
  }
  for (const node of article.querySelectorAll(".rz-figure, .rz-chart, .rz-stage")) {
    if (shown(node)) found.push(...wide("box", node, node.getBoundingClientRect()));
  }
  const small = new Map();
  for (const svg of pictures.filter((node) => node.tagName === "svg")) {
    const least = (size) => small.set(svg, Math.min(size, small.get(svg) ?? Infinity));
    const drawn = parseFloat(svg.dataset.smallest);  // text that is drawn as paths
    if (drawn) least(drawn * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width);
    for (const text of svg.querySelectorAll("text")) {
      if (!shown(text) || !text.textContent.trim()) continue;
      const { a, b } = text.getScreenCTM();
      least(parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b));
    }
  }
  for (const [svg, size] of small) {
    if (size < smallest - 0.01) found.push(`${section(svg)} | text of ${size.toFixed(1)} px: ${named(svg)}`);
  }
  return [...new Set(found)];
}"""


def broken(page: Any) -> list[str]:
    """What breaks the rule on the page that is open, in its order.

    Args:
        page: Playwright's page; it is left at the width of a phone, with everything unfolded.
    """
    page.set_viewport_size({"width": WIDTH, "height": 844})
    page.evaluate(OPENED)
    page.evaluate("() => document.fonts.ready")
    found: list[str] = page.evaluate(BROKEN, SMALLEST)
    return found


def both(page: Any) -> list[str]:
    """What breaks the rule in light and in dark."""
    found: dict[str, None] = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found |= dict.fromkeys(broken(page))
    return list(found)


#: Where the figures of a page are: top and height, pixels.
PLACES = """() => [...document.querySelectorAll(
  "article :is(.rz-figure, .rz-explorer, .rz-stepper, .katex-display, .rz-front, .rz-ideas)")]
  .filter((node) => node.getClientRects().length)
  .map((node) => node.getBoundingClientRect()).map((box) => [box.top + scrollY, box.height])"""


def sheet(page: Any, out: Path, columns: int = 5) -> None:
    """Save all figures of the page that is open, as a phone shows them, in one picture."""
    from PIL import Image

    clips = [{"x": 0, "y": top, "width": WIDTH, "height": height} for top, height in page.evaluate(PLACES) if height]
    pictures = [Image.open(BytesIO(page.screenshot(clip=clip, full_page=True))) for clip in clips]
    ends = [0] * columns
    places = []
    for picture in pictures:
        column = ends.index(min(ends))
        places.append((column * (WIDTH + 10), ends[column]))
        ends[column] += picture.height + 20
    whole = Image.new("RGB", (columns * (WIDTH + 10), max(1, *ends)), "gray")
    for picture, place in zip(pictures, places, strict=True):
        whole.paste(picture, place)
    whole.save(out)


def addresses(names: list[str]) -> list[str]:
    """The pages to open: those named, in any form that says which, or all."""
    every = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in pages()]
    return [name for name in every if not names or any(one in name for one in names)]


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.narrow", description=__doc__.split(":", 1)[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="a part of its name, such as 07 (default: all)")
    parser.add_argument(
        "--sheet", type=Path, metavar="FOLDER", help="also write each page's picture at 390 pixels there"
    )
    arguments = parser.parse_args(argv)
    chosen = addresses(arguments.pages)
    if missing := [name for name in chosen if not (HTML / name).is_file()] or ([] if chosen else arguments.pages):
        return fail(f"there is no page {missing[0]}: run make book")
    count = 0
    with server() as running, chromium() as browser:
        Thread(target=running.serve_forever, daemon=True).start()
        for name in chosen:
            page = browser.new_page(viewport={"width": WIDTH, "height": 844})
            page.add_init_script(EVERYTHING)
            page.goto(f"http://127.0.0.1:{running.server_port}/{name}", wait_until="load")
            found = both(page)
            if arguments.sheet:
                page.emulate_media(color_scheme="light")
                arguments.sheet.mkdir(parents=True, exist_ok=True)
                sheet(page, arguments.sheet / f"{Path(name).stem}.png")
            count += len(found)
            say("\n".join([f"{name}: {len(found)}", *(f"  {text}" for text in found)]))
            page.close()
        running.shutdown()
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

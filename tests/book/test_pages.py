"""The built pages in a real browser: whole, quiet, at home, and readable at every width and in both colour schemes."""

from __future__ import annotations

import pytest

from tools.build_book import pages
from tools.common import ROOT

pytestmark = pytest.mark.browser

PAGES = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in pages()]

OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  const clipped = (node) => {
    for (let parent = node.parentElement; parent; parent = parent.parentElement) {
      if (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(parent).overflowX)) return true;
    }
    return false;
  };
  return [...document.querySelectorAll("article *:not(svg *)")]
    .filter((node) => node.getClientRects().length && node.getBoundingClientRect().right > width + 1 && !clipped(node))
    .map((node) => `${node.tagName} ${node.className} ${Math.round(node.getBoundingClientRect().right)} > ${width}`);
}"""

#: Relative luminance of the page's text and of what lies under it, after WCAG 2.2.
CONTRAST = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const light = ([r, g, b]) => {
    const linear = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const speaks = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const seen = (node) => node.getClientRects().length && speaks(node);
  const worst = [];
  for (const node of document.querySelectorAll("article p, article li, article td, article .rz-card *")) {
    if (node.closest("svg, [disabled]") || !seen(node)) continue;
    const [a, b] = [light(numbers(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const text = node.textContent.trim().slice(0, 40);
    if (ratio < 4.5) worst.push(`${ratio.toFixed(2)} ${node.tagName}.${node.className}: ${text}`);
  }
  return worst;
}"""


def test_there_is_an_entrance(site, visit):
    """The book's root leads to its first page."""
    watch = visit(site + "/")
    watch.page.wait_for_url("**/book/intro.html")
    assert watch.page.locator("article h1").count() == 1
    assert watch.problems == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("way", ["http", "file"])
def test_quiet_and_at_home(addresses, visit, way, name):
    """No script error, no failed request, none that leaves the machine, all mathematics set; served and from disk."""
    watch = visit(f"{addresses[way]}/{name}")
    formulas = watch.page.locator("span.math, div.math").count()
    if formulas:
        watch.page.wait_for_function("() => window.MathJax && MathJax.startup && MathJax.startup.promise")
        watch.page.evaluate("() => MathJax.startup.promise")
    assert watch.page.locator("mjx-container").count() >= formulas
    assert watch.page.locator("mjx-merror").count() == 0
    assert watch.problems == []


def test_search_finds(site, visit):
    """The search of the served book answers from its own index."""
    watch = visit(f"{site}/search.html?q=predict")
    watch.page.locator("#search-results li a").first.wait_for()
    assert watch.problems == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_and_reads(site, visit, name, scheme):
    """Nothing sticks out to the right, folded parts included, and text stands out from its ground."""
    watch = visit(f"{site}/{name}", scheme=scheme)
    watch.page.evaluate("() => document.querySelectorAll('article details').forEach((fold) => { fold.open = true })")
    for width in (1280, 390):
        watch.page.set_viewport_size({"width": width, "height": 900})
        assert watch.page.evaluate(OVERFLOW) == [], width
        assert watch.page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert watch.page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("name", PAGES)
def test_reads_without_scripts(addresses, visit, name):
    """With scripts forbidden the text is there, and every picture has words for who cannot see it."""
    watch = visit(f"{addresses['file']}/{name}", scripts=False)
    assert watch.page.locator("article h1").inner_text().strip()
    pictures = [picture.get_attribute("alt") for picture in watch.page.locator("article .cell_output img").all()]
    assert [alt for alt in pictures if not alt or alt.endswith((".png", ".svg"))] == []

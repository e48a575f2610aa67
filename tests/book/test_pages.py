"""The built pages in a real browser: whole, quiet, at home, and readable at every width and in both colour schemes."""

from __future__ import annotations

import pytest

from rankzero.facts.chapters import CHAPTERS
from tests.book.conftest import proof
from tools import pages as limits
from tools.build_book import pages
from tools.common import ROOT, VENDOR
from tools.mathematics import why_not

pytestmark = pytest.mark.browser

needs_katex = pytest.mark.skipif(bool(why_not()), reason=why_not())
needs_search = pytest.mark.skipif(not (VENDOR / "minisearch").is_dir(), reason="MiniSearch is not here (make vendor)")

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


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("way", ["http", "file"])
def test_quiet_and_at_home(shared, way, name):
    """No script error, no failed request, none that leaves the machine; served and from disk."""
    assert shared(way, name).problems == []


@needs_katex
@pytest.mark.parametrize("name", PAGES)
def test_mathematics_is_set(shared, name):
    """Without any script: every formula is drawn, has MathML beside it, and is no tab stop; none waits in a card. Kills
    a build that leaves formulas to the browser."""
    page = shared("file", name, scripts=False).page
    formulas = page.locator("span.math, div.math").count()
    assert page.locator(".math .katex-html[aria-hidden=true]").count() >= formulas
    assert page.locator(".math math").count() >= formulas
    assert page.locator(".math [tabindex], .katex-error").count() == 0
    cards = page.locator("[data-card]").evaluate_all("(cards) => cards.map((card) => card.dataset.card).join()")
    assert r"nohighlight\">\\" not in cards
    assert page.locator("script[src*=mathjax], script[src*=fontawesome], [class*=fa-]:not(svg)").count() == 0


@needs_katex
def test_a_sentence_that_python_writes_is_set(site, visit):
    """Formulas that come while the page is read are set then, and what sets them is not loaded before."""
    watch = visit(f"{site}/{PAGES[0]}")
    assert watch.page.locator("script[src*=katex]").count() == 0
    watch.page.evaluate("""() => {
      const verdict = document.createElement("p");
      verdict.id = "verdict";
      verdict.innerHTML = 'Not <span class="math notranslate nohighlight">\\\\(2 < N\\\\)</span>.';
      document.querySelector("article").prepend(verdict);
      return window.setFormulas(verdict);
    }""")
    assert watch.page.locator("#verdict .katex-html").count() == 1
    assert watch.problems == []


@needs_search
@proof
@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_sections(addresses, visit, way):
    """The index comes when somebody searches, from disk too, and what is found leads to the section."""
    watch = visit(f"{addresses[way]}/{PAGES[0]}")
    page = watch.page
    assert page.locator("script[src*='search-data'], script[src*=minisearch]").count() == 0
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").fill("predict")
    link = page.locator("#pst-search-dialog .rz-found a").first
    link.wait_for()
    shown = page.locator("#pst-search-dialog .rz-found li").count()
    said = page.locator("#pst-search-dialog [role=status]").inner_text()
    assert said.startswith(f"{shown} section") or said.endswith(f"the first {shown} shown.")
    place = link.get_attribute("href")
    link.click()
    page.wait_for_url(place)
    assert page.locator("#" + place.partition("#")[2]).count() == 1
    assert watch.problems == []


@proof
@needs_search
def test_the_search_page_answers_its_address(site, visit):
    """A search can be kept as a link."""
    watch = visit(f"{site}/search.html?q=predict")
    watch.page.locator(".bd-search-container .rz-found a").first.wait_for()
    assert watch.page.locator(".bd-search-container input").input_value() == "predict"
    assert watch.problems == []


@proof
@needs_search
def test_nothing_found_is_said(site, visit):
    watch = visit(f"{site}/search.html?q=xyzzyplugh")
    watch.page.get_by_text("0 sections found.").wait_for()
    assert watch.page.locator(".rz-found li").count() == 0


@pytest.mark.parametrize("name", PAGES)
def test_fits_and_reads(shared, name):
    """Nothing sticks out to the right, folded parts included, and text stands out from its ground, light and dark."""
    page = shared("http", name).page
    page.evaluate("() => document.querySelectorAll('article details').forEach((fold) => { fold.open = true })")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOW) == [], width
        assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("(scheme) => document.documentElement.dataset.theme === scheme", arg=scheme)
        assert page.evaluate(CONTRAST) == [], scheme


@pytest.mark.parametrize("name", PAGES)
def test_reads_without_scripts(shared, name):
    """With scripts forbidden the text is there, and every picture has words for who cannot see it."""
    watch = shared("file", name, scripts=False)
    assert watch.page.locator("article h1").inner_text().strip()
    pictures = [picture.get_attribute("alt") for picture in watch.page.locator("article .cell_output img").all()]
    assert [alt for alt in pictures if not alt or alt.endswith((".png", ".svg"))] == []


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize("chapter", [f"book/{one.page}.html" for one in CHAPTERS if one.number in limits.REBUILT])
def test_a_rebuilt_chapter_can_be_printed(shared, chapter):
    """Kills a page that nobody finishes: with everything on it shown, it takes at most so much paper."""
    assert limits.paper(shared("file", chapter).page) <= limits.MOST_PRINTED

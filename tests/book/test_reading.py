"""A built page to read: code and printed lines whole, small type nowhere, tab stops at tasks, the way back, axe."""

from __future__ import annotations

import pytest

from tests.book.conftest import go_with, proof
from tools.browser import AXE
from tools.build_book import notebooks, pages
from tools.common import ROOT

pytestmark = pytest.mark.browser

PAGES = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in pages()]
CHAPTERS = [path.relative_to(ROOT).with_suffix(".html").as_posix() for path in notebooks()]

#: Pages whose few elements axe has soon seen.
LITTLE = ("book/intro.html", "book/your-course.html")

PLACES = "rankzero:place"  # where the reader was

OPENED = "() => document.querySelectorAll('article details').forEach((fold) => { fold.open = true })"

#: Boxes of code and of printed lines that do not show all of a line; a reference in a card is as it stands in its file.
CUT = """() => [...document.querySelectorAll("article div.cell pre, article div.highlight pre")]
  .filter((box) => !box.closest(".rz-card, .traceback") && box.scrollWidth > box.clientWidth + 1)
  .map((box) => box.textContent.split("\\n").sort((a, b) => b.length - a.length)[0])"""

#: Printed lines of more than 88 characters; an error's traceback is its library's own.
WIDE = """() => [...document.querySelectorAll("article div.cell_output pre")]
  .filter((box) => !box.closest(".traceback, .text_html"))
  .flatMap((box) => box.textContent.split("\\n").filter((line) => [...line].length > 88))"""

#: Text of charts below nine pixels, and pictures narrower than their smallest text allows.
SMALL = """() => {
  const texts = [...document.querySelectorAll("article svg text")].filter((text) => text.textContent.trim());
  const size = (text) => {
    const { a, b } = text.getScreenCTM();
    return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
  };
  const small = texts.filter((text) => text.getClientRects().length && size(text) < 8.99).map((t) => t.textContent);
  const pictures = [...document.querySelectorAll(".rz-figure > svg")].filter((svg) => svg.getClientRects().length);
  const thin = pictures.filter((svg) => {
    const least = parseFloat(svg.style.minWidth);
    return !(least > 0 && svg.getBoundingClientRect().width >= least - 1);
  });
  return [...small, ...thin.map((svg) => svg.getAttribute("aria-label"))];
}"""

#: Where the tabulator stops on the page: its own tab stops, without those inside what is folded.
STOPS = """() => [...document.querySelectorAll("article :is(a[href], button, input, select, summary, [tabindex])")]
  .filter((node) => node.tabIndex >= 0 && !node.disabled && node.getClientRects().length)
  .filter((node) => node.scrollWidth <= node.clientWidth + 1 || !node.matches(".rz-figure, .rz-chart, pre"))
  .map((node) => node.closest(".rz-card, .rz-explorer, .rz-stepper") ? "task" : `${node.tagName}.${node.className}`)"""

SERIOUS = """async () => {
  const options = { exclude: [[".theme-switch-button"]] };  // its name is its label; what it shows is a sign of a font
  const found = await axe.run(options, { resultTypes: ["violations"] });
  return found.violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
}"""


#: Of each box: whether it scrolls, and how much of its right edge fades before it is scrolled and at its end.
FADES = """async (boxes) => {
  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const all = () => boxes.map((box) => getComputedStyle(box).getPropertyValue("--rz-fade"));
  const before = all();
  for (const box of boxes) box.scrollLeft = box.scrollWidth;
  await drawn();
  const after = all();
  return boxes.map((box, at) => [box.scrollWidth > box.clientWidth, before[at], after[at]]);
}"""


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_line_is_cut(shared, name):
    """At 1280 px every line of code and every printed line is whole; no printed line has more than 88 characters."""
    watch = shared("http", name)
    watch.page.evaluate(OPENED)
    assert watch.page.evaluate(CUT) == []
    assert watch.page.evaluate(WIDE) == []


@pytest.mark.proof(part="pages")
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_phone_shows_no_small_type(shared, name):
    """At 390 px no text of a picture is below nine pixels; lines of code do not break."""
    watch = shared("http", name)
    watch.page.evaluate(OPENED)
    watch.page.set_viewport_size({"width": 390, "height": 900})
    assert watch.page.evaluate(SMALL) == []
    boxes = watch.page.locator("article div.cell_input pre").all()
    assert {box.evaluate("(box) => getComputedStyle(box).whiteSpace") for box in boxes} == {"pre"}


def test_what_goes_on_to_the_right_fades_until_its_end(visit, site):
    """Kills a table on a phone that looks as if it ended at the edge, and a fade over what can be seen whole."""
    page = visit(f"{site}/book/reference/hardware.html", width=390).page
    found = page.locator("article :is(.rz-chart, table.table)").evaluate_all(FADES)
    assert {(wide, before, after) for wide, before, after in found} <= {(True, "40px", "0px"), (False, "0px", "0px")}
    assert any(wide for wide, _, _ in found)


@pytest.mark.parametrize("name", CHAPTERS)
def test_calls_of_a_notebook_are_not_read(shared, name):
    """Kills a page that shows what only a notebook can use: the card is there, and the call is not."""
    watch = shared("http", name)
    code = watch.page.locator("article div.cell_input pre").all_inner_texts()
    assert [text for text in code if text.startswith(("predict(", "explore(", "stepper(", "scorecard(", "%pip"))] == []
    assert watch.page.locator("article .rz-card").count() > 0
    assert watch.page.locator("article details.above-input[open]").count() == 0


@pytest.mark.parametrize("name", CHAPTERS)
def test_tab_stops_lead_from_task_to_task(shared, name):
    """Kills a stop at every heading, at every button that copies and at every box of code that does not scroll."""
    watch = shared("http", name)
    stops = [stop for stop in watch.page.evaluate(STOPS) if stop != "task"]
    wrong = ("A.headerlink", "BUTTON.copybtn", "PRE.", "DIV.rz-figure")
    assert [stop for stop in stops if stop.startswith(wrong)] == []


#: Little pages in a wide and in a narrow window, the others in one of the two in turn: what differs between the windows
#: is the theme's, and the same on every page.
LOOKED_AT = [pytest.param(name, width, marks=[proof] * (width == 390)) for name in LITTLE for width in (1280, 390)]
LOOKED_AT += [
    pytest.param(name, (1280, 390)[index % 2], marks=proof)
    for index, name in enumerate(sorted(set(PAGES) - set(LITTLE)))
]


@pytest.mark.parametrize(("name", "width"), LOOKED_AT)
def test_axe_finds_nothing_serious(shared, name, width):
    if not AXE.is_file():
        pytest.skip("axe is not here (make vendor)")
    page = shared("http", name).page
    page.set_viewport_size({"width": width, "height": 900})
    page.add_script_tag(path=str(AXE))
    page.evaluate("() => window.dispatchEvent(new Event('resize'))")
    assert page.evaluate(SERIOUS) == []


PALE = """() => axe.run("article p a:hover", { runOnly: ["color-contrast"] })
  .then(({ passes, violations }) => [passes.length, violations.flatMap(({ nodes }) => nodes.map((one) => one.html))])"""


@proof
@pytest.mark.parametrize("chapter", CHAPTERS[:1])
def test_a_link_under_the_mouse_can_be_read(shared, chapter):
    if not AXE.is_file():
        pytest.skip("axe is not here (make vendor)")
    page = shared("http", chapter).page
    page.add_script_tag(path=str(AXE))
    page.locator("article p a.reference:visible").first.hover()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function("(theme) => document.documentElement.dataset.theme === theme", arg=theme)
        assert page.evaluate(PALE) == [1, []], theme


@proof
@pytest.mark.parametrize("way", ["http", "file"])
@pytest.mark.parametrize("chapter", ["book/01-first-program.html"])
def test_the_way_back(visit, addresses, way, chapter):
    """The bar names the section in view, and who comes again is led there, from the page and from the opening page."""
    watch = visit(f"{addresses[way]}/{chapter}")
    page = watch.page
    assert page.locator(".rz-continue").count() == 0
    page.locator("#processes-and-why-not-threads").evaluate("(node) => node.scrollIntoView()")
    page.wait_for_function(
        "() => document.querySelector('.rz-place').textContent === '1.2 Processes, and why not threads'"
    )
    go_with(page, PLACES, f"{addresses[way]}/{chapter}")
    assert page.locator(".rz-continue").inner_text() == "Continue where you were: 1.2 Processes, and why not threads"
    go_with(page, PLACES, f"{addresses[way]}/book/intro.html")
    page.locator(".rz-continue a").click()
    page.wait_for_url("**/01-first-program.html#processes-and-why-not-threads")
    page.locator("#build-roll-call").evaluate("(node) => node.scrollIntoView()")
    page.wait_for_function(
        "() => document.querySelector('.rz-place').textContent === '1.3 Hello world › Build roll_call'"
    )
    assert watch.problems == []


@proof
@pytest.mark.parametrize("chapter", ["book/deeper/05-data-parallel-deeper.html"])
def test_a_source_stands_in_the_page(shared, chapter):
    """The program that the section is about is there, with a link to its lines, and the cell that prints it is not."""
    watch = shared("http", chapter)
    link = watch.page.locator("article a[href*='experiments/ch05/data_parallel_runs.py#L']")
    assert link.count() == 1
    listing = watch.page.locator("article div.highlight pre", has_text="def train_on_rank(")
    assert listing.count() == 1
    assert "optimizer.step()" in listing.inner_text()
    assert watch.page.locator("article pre", has_text="inspect.getsource").count() == 0

"""The buttons around a page: menus at every width, and a copy where the browser has no clipboard."""

from __future__ import annotations

import pytest

from rankzero.facts.chapters import CHAPTERS
from tests.book.conftest import proof

pytestmark = pytest.mark.browser

PAGE = "book/03-collectives.html"
CHAPTER = f"a[href='{CHAPTERS[3].page}.html']"
MENU, CONTENTS = ".bd-header-article .primary-toggle", ".bd-header-article .secondary-toggle"

#: The widths at which the theme changes what it does, from both sides.
WIDTHS = (390, 768, 959, 960, 991, 992, 1199, 1200, 1600)
#: Whether something of a menu is on the screen.
ON_SCREEN = """(selector) => [...document.querySelectorAll(selector)].some((node) => {
  const { left, right, width } = node.getBoundingClientRect();
  return width > 0 && right > 0 && left < innerWidth && node.checkVisibility({ visibilityProperty: true });
})"""


@pytest.mark.proof(part="pages")
def test_a_phone_leads_to_any_chapter(visit, site):
    """Kills menu buttons that do nothing: ☰ shows the chapters, the other one the page's sections; a link to a section
    closes the menu, which would hide it, and one to a chapter leads there."""
    watch = visit(f"{site}/{PAGE}", width=390)
    page = watch.page
    menu, contents = (page.locator(f"#pst-{name}-sidebar-modal") for name in ("primary", "secondary"))
    page.locator(CONTENTS).click()
    contents.get_by_role("link", name="3.6").click()
    contents.wait_for(state="hidden")
    assert page.url.endswith("#ring-reduce-scatter")
    page.wait_for_function(
        "() => Math.abs(document.getElementById('ring-reduce-scatter').getBoundingClientRect().top) < 200"
    )
    page.locator(MENU).click()
    assert menu.locator("a.reference.internal:visible").count() > len(CHAPTERS)
    menu.locator(CHAPTER).click()
    page.wait_for_url(f"**/{CHAPTERS[3].page}.html")
    assert watch.problems == []


@proof
def test_buttons_do_something_at_every_width(visit, site):
    """Where a menu is out of sight its button shows it, and where it is in sight ☰ takes it away."""
    page = visit(f"{site}/{PAGE}").page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.reload()
        for button, side in ((MENU, "primary"), (CONTENTS, "secondary")):
            if not page.locator(button).is_visible():
                assert page.evaluate(ON_SCREEN, f"#pst-{side}-sidebar a"), width
                continue
            links = f"#pst-{side}-sidebar a, #pst-{side}-sidebar-modal a"
            before = page.evaluate(ON_SCREEN, links)
            page.locator(button).click()
            changed = (
                f"(links) => document.querySelector('dialog[open]') || ({ON_SCREEN})(links) !== {str(before).lower()}"
            )
            page.wait_for_function(changed, arg=links)
            assert before or page.evaluate(ON_SCREEN, links), (width, side)
            page.reload()


def test_each_button_is_there_once(visit, site):
    """The book's root leads to its first page. Kills a second pair of buttons that nobody sees, and a tab that says the
    book's name twice."""
    watch = visit(f"{site}/")
    page = watch.page
    page.wait_for_url("**/book/intro.html")
    assert page.locator("article h1").count() == 1
    assert watch.problems == []
    assert [page.locator(f".{name}-toggle").count() for name in ("primary", "secondary")] == [1, 1]
    assert page.title() == "Rank Zero"
    begin = page.locator("article .rz-begin a")
    begin.click()
    page.wait_for_url(f"**/{CHAPTERS[0].page}.html")


#: What the browser is told to copy.
HEARD = """document.addEventListener("copy", ({ target }) => {
  window.copied = target.value ?? String(getSelection());
}, true)"""
NONE = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"  # as on plain http


@proof
def test_copying_without_a_clipboard(browser, site):
    """Kills a button that says nothing and copies nothing on plain http: that of a function that the page cannot check,
    and that of a cell."""
    context = browser.new_context(service_workers="block")
    context.add_init_script(f"{NONE}; {HEARD}")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{site}/book/05-data-parallel.html")
    button = page.locator(".rz-elsewhere:visible button[data-copy]").first
    wanted = button.get_attribute("data-copy")
    button.click()
    page.locator(".rz-elsewhere button[data-copy]", has_text="Copied").wait_for()
    assert page.evaluate("copied") == wanted
    cell = page.locator("article div.cell_input div.highlight:visible").first
    cell.hover()
    cell.locator("button.copybtn").click()
    assert page.evaluate("copied").strip() == cell.locator("pre").inner_text().strip()
    assert problems == []
    context.close()

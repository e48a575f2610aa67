"""The script that measures figures on a phone notices each way in which one can be cut or too small."""

from __future__ import annotations

import pytest

from tools import narrow
from tools.browser import executable

PAGE = "<article style='width:346px'><h2>1.1 Here</h2>{}</article>"
SVG = "<svg viewBox='0 0 {0} 20' width='{0}' height='20' aria-label='the figure'{2}>{1}</svg>"
TEXT = "<text x='{0}' y='12' font-size='{1}'>words</text>"
FORMULA = (
    "<span class='katex-display' style='display:block;overflow:auto'><annotation hidden>x = y</annotation>"
    "<span class='katex-html'><span class='katex-base' style='display:inline-block;width:{0}px'>x</span></span></span>"
)

BROKEN = {
    "a wide picture": (SVG.format(500, "", ""), "picture 154 px outside the column: the figure"),
    "a wide picture in a box that scrolls": (
        f"<div class='rz-figure' style='overflow:auto'>{SVG.format(500, '', '')}</div>",
        "picture 154 px outside the column: the figure",
    ),
    "a title beyond the edge of its chart": (
        f"<div class='rz-chart'>{SVG.format(340, TEXT.format(330, 12), ' style=overflow:visible')}</div>",
        "chart",
    ),
    "what hangs out to the left": (
        f"<div style='margin-left:-20px'>{SVG.format(100, '', '')}</div>",
        "outside the column: the figure",
    ),
    "small text": (SVG.format(300, TEXT.format(0, 8), ""), "text of 8.0 px: the figure"),
    "text that was shrunk": (
        SVG.format(600, TEXT.format(0, 12), " style='width:300px'"),
        "text of 6.0 px: the figure",
    ),
    "text that is drawn as paths": (
        SVG.format(600, "", " style='width:300px' data-smallest=12"),
        "text of 6.0 px: the figure",
    ),
    "a wide formula": (FORMULA.format(400), "formula 54 px outside the column: x = y"),
}

FINE = {
    "a picture as wide as the column": SVG.format(346, TEXT.format(0, 9), ""),
    "code that scrolls": f"<pre style='overflow:auto'>{'word ' * 200}</pre>",
    "a table of text that scrolls": f"<div style='overflow:auto'><table><td>{'x' * 300}</table></div>",
    "a drawing that is not shown": SVG.format(500, "", " style='display:none'"),
    "a short formula": FORMULA.format(300),
}

needs_browser = pytest.mark.skipif(executable() is None, reason="there is no Chromium (make debian)")


@pytest.fixture
def page(browser):
    found = browser.new_page()
    yield found
    found.close()


@pytest.mark.browser
@needs_browser
def test_what_breaks_the_rule_is_named(page):
    for name, (html, said) in BROKEN.items():
        page.set_content(PAGE.format(html))
        found = narrow.both(page)
        assert len(found) == 1, (name, found)
        assert found[0].startswith("1.1 Here | "), name
        assert said in found[0], (name, found)


@pytest.mark.browser
@needs_browser
def test_what_fits_and_what_may_scroll_is_not(page):
    for name, html in FINE.items():
        page.set_content(PAGE.format(html))
        assert narrow.both(page) == [], name


def test_pages_are_named_by_a_part_of_their_name():
    assert narrow.addresses(["07-"]) == [
        "book/07-pipeline-expert.html",
        "book/deeper/07-pipeline-expert-deeper.html",
    ]
    assert narrow.addresses(["no such page"]) == []
    assert narrow.addresses([])[0] == "book/intro.html"

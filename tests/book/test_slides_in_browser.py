"""The slides of each chapter as a class sees them: nothing is cut off, nothing is asked of another host."""

import pytest

from rankzero.facts.chapters import CHAPTERS
from tests.book.conftest import proof
from tools.handouts import slides

#: Height and width of the slide that is shown, beside those that it may have, and how it begins.
SIZE = """() => { const slide = Reveal.getCurrentSlide(), { height, width } = Reveal.getConfig();
  return [slide.scrollHeight > height, slide.scrollWidth > width, slide.innerText.slice(0, 60)]; }"""

pytestmark = [
    pytest.mark.browser,
    proof,
    pytest.mark.skipif(not (slides.REVEAL / "reveal.js").is_file(), reason="reveal.js is not here (make vendor)"),
]


def test_every_slide_fits_and_needs_no_network(browser, tmp_path, html):
    """Kills a question of three screens, a script that fails, and a picture that is fetched."""
    assert slides.main(["--out", str(tmp_path), "--html", str(html)]) == 0
    for chapter in CHAPTERS:
        page, wrong = browser.new_page(viewport={"width": 1280, "height": 760}), []
        page.on("pageerror", lambda error, wrong=wrong: wrong.append(str(error)))
        page.on("requestfailed", lambda request, wrong=wrong: wrong.append(request.url))
        page.goto((tmp_path / f"{chapter.page}.html").as_uri(), wait_until="load")
        assert page.evaluate("performance.getEntriesByType('resource').length") == 0, chapter.page
        for _ in range(page.evaluate("Reveal.getTotalSlides()")):
            high, wide, begins = page.evaluate(SIZE)
            wrong += [begins] if high or wide else []
            page.evaluate("Reveal.next()")
        page.close()
        assert wrong == [], chapter.page

"""The reference pages in the built book: reachable from the opening page and from the sections, and searchable."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from experiments.corrections import corrections, every
from rankzero.facts.chapters import CHAPTERS
from tools import reference
from tools.reference.corrections import anchor

pytestmark = pytest.mark.browser

NUMBERS = "reference/numbers-that-disagree.html"


def read(html: Path, page: str) -> str:
    return (html / "book" / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_opening_page_leads_there(html, name):
    """The first click; the second is one on the page itself, if any."""
    assert f'href="reference/{name}.html"' in read(html, "intro.html").partition("<article")[2]


def test_every_correction_is_on_its_page(html):
    assert read(html, NUMBERS).count('class="rz-correction"') == len(every())


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.page)
def test_sections_lead_to_their_corrections_and_back(html, chapter):
    """Kills a section without its link, and links in either direction whose target is not there."""
    if not (html / "book" / NUMBERS).exists():
        pytest.skip("this build has one page and no reference pages")
    pages = [name for name in (chapter.page, chapter.deeper) if (html / "book" / f"{name}.html").exists()]
    numbers, page = read(html, NUMBERS), "".join(read(html, f"{name}.html") for name in pages)
    linked = re.findall(rf'href="(?:\.\./)?{NUMBERS}#([^"]+)"', page)
    counts = Counter(one.section for one in corrections(chapter.prefix))
    wanted = [anchor(section, number + 1) for section, count in counts.items() for number in range(count)]
    assert sorted(linked) == sorted(wanted)
    assert all(f'id="{target}"' in numbers for target in linked)
    back = re.findall(rf'href="\.\./(?:{"|".join(pages)})\.html#(section-[^"]+)"', numbers)
    assert len(back) == len(wanted)
    assert all(f'id="{target}"' in page for target in back)


def test_words_find_corrections(shared):
    """Typing filters, sections without a hit go, and an empty field shows everything again."""
    watch = shared("file", f"book/{NUMBERS}")
    entries = watch.page.locator(".rz-correction:visible")
    whole = entries.count()
    assert whole == len(every())
    field = watch.page.get_by_label("Find corrections")
    field.fill("bubble interleaving")
    assert 0 < entries.count() < 4
    claim = "Interleaving shrinks the bubble fraction and costs nothing but messages."
    assert claim in watch.page.locator("article").inner_text()
    assert watch.page.locator("h2:visible").count() == 1
    assert watch.page.locator(".rz-find output").inner_text() == f"{entries.count()} of {whole} corrections"
    field.fill("")
    assert entries.count() == whole
    assert watch.problems == []


def test_a_link_shows_what_the_filter_hides(shared):
    watch = shared("file", f"book/{NUMBERS}")
    watch.page.get_by_label("Find corrections").fill("bubble interleaving")
    watch.page.evaluate("target => { location.hash = target }", anchor("15.6", 1))
    watch.page.locator(f"section:has(> #{anchor('15.6', 1)}) > h3").wait_for(state="visible")
    assert watch.page.get_by_label("Find corrections").input_value() == ""

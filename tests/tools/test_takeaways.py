"""Takeaways: one sentence a section, in the summary of its page and on the page of the course."""

from __future__ import annotations

import nbformat
import pytest

from rankzero.facts.chapters import CHAPTERS
from tools import reference, takeaways
from tools.common import notebooks, pages_of

END = "## Summary\n\n- Old.\n\n## Where the real systems do this\n\n- There."


def notebook(*cells: tuple[str, str]) -> str:
    made = [
        nbformat.v4.new_markdown_cell(text, id=f"c{n}", metadata={"tags": [tag] if tag else []})
        for n, (text, tag) in enumerate(cells)
    ]
    return nbformat.writes(nbformat.v4.new_notebook(cells=made)) + "\n"


RING = ("> **Remember:** A ring has few bytes\n> and many steps.", "takeaway")


def test_the_summary_is_the_takeaways():
    """Kills a summary that keeps an old line, and one that swallows what comes after it."""
    page = takeaways.renewed(notebook(("# 4. T\n\nText.", ""), ("## 4.2 Ring\n\nText.", ""), RING, (END, "")))
    last = nbformat.reads(page, as_version=4).cells[-1].source
    assert last == (
        "## Summary\n\n- A ring has few bytes and many steps. (4.2)\n\n## Where the real systems do this\n\n- There."
    )
    assert takeaways.renewed(page) == page


def test_a_page_without_takeaways_is_left_alone():
    page = notebook(("# 4. T", ""), (END, ""))
    assert takeaways.renewed(page) == page


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        (
            [("## 4.1 L", ""), ("Remember this.", "takeaway")],
            "must read '> \\*\\*Remember:\\*\\* ...', got 'Remember this.'",
        ),
        ([("# 4. T", ""), RING], "must stand in a section"),
    ],
)
def test_what_is_no_takeaway_is_refused(cells, what):
    with pytest.raises(ValueError, match=what):
        takeaways.renewed(notebook(*cells))


def test_summaries_are_up_to_date():
    assert takeaways.stale(notebooks()) == {}
    assert takeaways.main(["--check"]) == 0


def test_the_page_of_the_course_has_each_with_its_section():
    shown = reference.PAGES["takeaways"]()
    for chapter in CHAPTERS:
        found = [one for path in pages_of(chapter) for one in takeaways.collected(nbformat.read(path, 4).cells)]
        assert all(f"- {sentence} <a href=" in shown for _, sentence in found)
        assert (f"## {chapter.number}. {chapter.title}" in shown) == bool(found)

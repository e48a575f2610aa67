"""What the page "Your course" knows: every item of the course, with the place of its card."""

from __future__ import annotations

import json

from autograder import bank
from autograder.sections import SECTIONS
from rankzero.facts.chapters import CHAPTERS
from tools.common import BOOK, notebooks
from tools.course import data as course_data


def test_every_item_is_there_once():
    """Kills a list that was typed, and one that loses an item."""
    found = course_data.collect()
    assert [one["id"] for one in found["items"]] == [item.id for item in bank.items()]
    assert [one["number"] for one in found["chapters"]] == [chapter.number for chapter in CHAPTERS]
    assert {one["kind"] for one in found["items"]} == {"question", "function"}
    assert sum(one["kind"] == "function" for one in found["items"]) == len(bank.builds())


def test_each_item_names_its_page_and_section():
    """Kills a link to a page on which the item is not asked."""
    pages = {
        path.relative_to(BOOK).with_suffix("").as_posix(): path.read_text(encoding="utf-8") for path in notebooks()
    }
    for one, item in zip(course_data.collect()["items"], bank.items(), strict=True):
        call = f"check({item.function})" if one["kind"] == "function" else item.id
        assert call in pages[one["page"]], one["id"]
        assert one["section"] in SECTIONS
        assert one["section"].split(".")[0] == str(one["chapter"])


def test_titles_are_escaped_and_the_script_can_be_read():
    """A script and not JSON, since a page from disk may load one; it holds the data as they are."""
    found = course_data.collect()
    text = course_data.script(found)
    assert json.loads(text.removeprefix("window.rankzeroCourse = ").rstrip(";\n")) == found
    titles = {one["id"]: one["title"] for one in found["items"]}
    assert titles[bank.builds()[0].id] == f"<code>{bank.builds()[0].function}</code>"
    assert "<script" not in text

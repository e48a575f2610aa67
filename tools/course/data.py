"""What "Your course" knows of the course: its chapters and all of their items, as one script that this page loads.

A script, not JSON: a page that is opened from disk may load one.
"""

from __future__ import annotations

import json
from typing import Any

from autograder import bank
from autograder.items import Build, Item
from autograder.marking.concepts import page_of
from autograder.markup import inline
from rankzero.facts.chapters import CHAPTERS, of_item


def entry(item: Item) -> dict[str, Any]:
    """One question or function: where its card stands, and its title as HTML."""
    chapter = of_item(item.id)
    function = isinstance(item, Build)
    return {
        "id": item.id,
        "title": inline(f"`{item.function}`" if isinstance(item, Build) else item.title, True),
        "chapter": chapter.number,
        "section": item.section,
        "page": page_of(item.section),
        "kind": "function" if function else "question",
    }


def collect() -> dict[str, list[dict[str, Any]]]:
    """The chapters and the items, in the order of the book."""
    chapters = [
        {"number": chapter.number, "title": chapter.title, "page": chapter.page, "deeper": chapter.deeper}
        for chapter in CHAPTERS
    ]
    return {"chapters": chapters, "items": [entry(item) for item in bank.items()]}


def script(found: dict[str, list[dict[str, Any]]]) -> str:
    """The script that hands them to ``your-course.js``."""
    return f"window.rankzeroCourse = {json.dumps(found, ensure_ascii=False)};\n"

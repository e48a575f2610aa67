"""What "Your course" knows of the course: its chapters and all of their items, as one script that this page loads.

A script, not JSON: a page that is opened from disk may load one.
"""

from __future__ import annotations

import json
from typing import Any

from autograder import bank
from autograder.bank.lists import LISTS, ON_ITS_PAGE
from autograder.items import Build, Debug, Item
from autograder.marking.concepts import page_of
from autograder.markup import inline
from rankzero.facts.chapters import CHAPTERS, of_item
from tools.course.questions import practised

#: What an item asks for, in the words of a reader; the keys are the kinds of the bank, and ``build``.
SORTS = {
    "estimate": "Estimate a size",
    "derive": "Derive a number",
    "trace": "Follow a run",
    "debug": "Find the fault",
    "design": "Choose a design",
    "build": "Write a function",
}


def sort(item: Item) -> str:
    """What an item asks for: a key of :data:`SORTS`."""
    if isinstance(item, Build):
        return "debug" if isinstance(item, Debug) else "build"
    return item.kind


def entry(item: Item) -> dict[str, Any]:
    """One question or function: where its card stands, its title as HTML, what it asks for, and whether
    it can be asked here: with its card, and ``alone``, to somebody who does not see its section."""
    chapter = of_item(item.id)
    function = isinstance(item, Build)
    return {
        "id": item.id,
        "title": inline(f"`{item.function}`" if isinstance(item, Build) else item.title, True),
        "chapter": chapter.number,
        "section": item.section,
        "page": page_of(item.section),
        "kind": "function" if function else "question",
        "sort": sort(item),
        "card": practised(item),
        "alone": practised(item) and item.id not in ON_ITS_PAGE,
    }


def collect() -> dict[str, Any]:
    """The chapters and the items, in the order of the book; what items ask for; and lists of items, in their order."""
    chapters = [
        {
            "number": chapter.number,
            "title": chapter.title,
            "page": chapter.page,
            "deeper": chapter.deeper,
            "part": chapter.part,
        }
        for chapter in CHAPTERS
    ]
    lists = [{"name": one.name, "title": f"The {len(one.ids)} {one.title}", "ids": [*one.ids]} for one in LISTS]
    return {"chapters": chapters, "items": [entry(item) for item in bank.items()], "sorts": SORTS, "lists": lists}


def script(found: dict[str, Any]) -> str:
    """The script that hands them to ``your-course.js``."""
    return f"window.rankzeroCourse = {json.dumps(found, ensure_ascii=False)};\n"

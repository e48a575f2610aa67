"""Every item of the course, one package per chapter, found by id or by the name of its function."""

from __future__ import annotations

import importlib

from autograder.items import Build, Item, Milestone, System
from rankzero.facts import chapters

#: The packages of chapters, in the order of the book; in Gradescope's container those of its exam alone.
CHAPTERS = tuple(chapter.package for chapter in chapters.CHAPTERS)


def of_chapter(chapter: str) -> tuple[Item, ...]:
    """The items of a chapter such as ``"ch05"``, in the order of its page; no other chapter is imported."""
    return importlib.import_module(f"autograder.bank.{chapter}.items").ITEMS


def items() -> tuple[Item, ...]:
    """All items, in the order of the book."""
    return tuple(item for chapter in CHAPTERS for item in of_chapter(chapter))


def builds() -> tuple[Build, ...]:
    """All build and debug items, in the order of the book."""
    return tuple(item for item in items() if isinstance(item, Build))


def milestones() -> tuple[Milestone, ...]:
    """Programs that must learn something; they are not among the items and are graded only on request."""
    return importlib.import_module("autograder.bank.ch12.milestones").MILESTONES if "ch12" in CHAPTERS else ()


def systems() -> tuple[System, ...]:
    """Programs that are graded as a whole, level by level; as milestones, they are not among the items."""
    places = (("ch07", "trainer", "TRAINER"), ("ch15", "survival", "SURVIVE"))
    here = [(f"autograder.bank.{chapter}.{module}", name) for chapter, module, name in places if chapter in CHAPTERS]
    return tuple(getattr(importlib.import_module(module), name) for module, name in here)


def on_request() -> tuple[Build, ...]:
    """What is written for milestones and systems: learners write it as they do exercises."""
    return (*(one.item for one in systems()), *(one.item for one in milestones()))


def find(identifier: str) -> Item:
    """The item with this id; only its own chapter is imported.

    Raises:
        KeyError: there is no such item; the message suggests similar ids.
    """
    for item in _same_chapter(identifier):
        if item.id == identifier:
            return item
    import difflib

    near = difflib.get_close_matches(identifier, [item.id for item in items()], n=3)
    raise KeyError(f"no item {identifier!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))


def _same_chapter(identifier: str) -> tuple[Item, ...]:
    """The items of the chapter that an id belongs to; none if there is no such chapter."""
    try:
        chapter = chapters.of_item(identifier).package
    except KeyError:
        return ()
    return of_chapter(chapter) if chapter in CHAPTERS else ()


def find_function(name: str) -> Build:
    """The build item whose function or class has this name.

    Raises:
        KeyError: no item asks for a function of this name.
    """
    for item in builds():
        if item.function == name:
            return item
    raise KeyError(f"no exercise asks for a function named {name!r}")

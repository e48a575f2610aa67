"""Every item of the course, found by id or by the name of its function. One package per chapter.

``chNN/<function>.py`` holds one exercise whole, as ``EXERCISE``; ``chNN/section_MM.py`` the questions of a section and
``chNN/design_<name>.py`` those whose simulator is long, as ``QUESTIONS``. What is there is registered. Sections and the
page within a section give the order.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from types import ModuleType

from autograder import sections
from autograder.items import AnyQuestion, Build, Item, Milestone, System
from autograder.items.exercises import hyphenated
from rankzero.facts import chapters

#: The packages of chapters, in the order of the book; in Gradescope's container those of its exam alone.
CHAPTERS = tuple(chapter.package for chapter in chapters.CHAPTERS)
#: The modules that hold questions begin with one of these.
OF_QUESTIONS = ("section_", "design")


@functools.cache
def of_chapter(chapter: str) -> tuple[Item, ...]:
    """The items of a chapter such as ``"ch05"``, in the order of its page; no other chapter is imported."""
    found = [item for name in modules(chapter) for item in held(importlib.import_module(name))]
    return tuple(sorted(found, key=_order))


@functools.cache
def modules(chapter: str) -> tuple[str, ...]:
    """The full names of a chapter's modules, in alphabetical order."""
    package = importlib.import_module(f"autograder.bank.{chapter}")
    return tuple(f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__))


def held(module: ModuleType) -> tuple[Item, ...]:
    """The items that a module of the bank holds."""
    exercise: Build | None = getattr(module, "EXERCISE", None)
    questions: tuple[AnyQuestion, ...] = getattr(module, "QUESTIONS", ())
    return (exercise,) if exercise else questions


def home(identifier: str) -> str:
    """The full name of the module in which an exercise with this id stands, if there is such an exercise."""
    chapter = chapters.of_item(identifier).package
    return f"autograder.bank.{chapter}.{identifier.partition('-')[2].replace('-', '_')}"


def _order(item: Item) -> tuple[list[int], int]:
    """By section, then by place on the page; what is not on a page yet comes last in its section."""
    on_page = sections.ITEMS.get(item.section, ())
    index = on_page.index(item.id) if item.id in on_page else len(on_page)
    return [int(number) for number in item.section.split(".")], index


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
    places = (
        ("ch07", "trainer", "TRAINER"),
        ("ch11", "server", "SERVER"),
        ("ch14", "loop", "RLHF"),
        ("ch15", "survival", "SURVIVE"),
    )
    here = [(f"autograder.bank.{chapter}.{module}", name) for chapter, module, name in places if chapter in CHAPTERS]
    return tuple(getattr(importlib.import_module(module), name) for module, name in here)


def on_request() -> tuple[Build, ...]:
    """What is written for milestones and systems: learners write it as they do exercises."""
    return (*(system.item for system in systems()), *(milestone.item for milestone in milestones()))


def find(identifier: str) -> Item:
    """The item with this id; of exercises only the module is imported, of questions those of their chapter.

    Raises:
        KeyError: there is no such item; the message suggests similar ids.
    """
    for item in candidates(identifier):
        if item.id == identifier:
            return item
    import difflib

    near = difflib.get_close_matches(identifier, [item.id for item in items()], n=3)
    raise KeyError(f"no item {identifier!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))


def candidates(identifier: str) -> tuple[Item, ...]:
    """The items among which one with this id is, if there is one."""
    try:
        chapter = chapters.of_item(identifier).package
    except KeyError:
        return ()
    if chapter not in CHAPTERS:
        return ()
    if (module := home(identifier)) in modules(chapter):
        return held(importlib.import_module(module))
    names = [name for name in modules(chapter) if name.rpartition(".")[2].startswith(OF_QUESTIONS)]
    return tuple(item for name in names for item in held(importlib.import_module(name)))


def find_function(name: str) -> Build:
    """The build item whose function or class has this name; only its module is imported.

    Raises:
        KeyError: no item asks for a function of this name.
    """
    file = hyphenated(name).replace("-", "_")
    for chapter in CHAPTERS:
        if (module := f"autograder.bank.{chapter}.{file}") in modules(chapter):
            for item in held(importlib.import_module(module)):
                if isinstance(item, Build) and item.function == name:
                    return item
    raise KeyError(f"no exercise asks for a function named {name!r}")

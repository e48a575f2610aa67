"""Every item of the course, one module per chapter, found by id or by the name of its function."""

from __future__ import annotations

import importlib

from autograder.items import Build, Item, Milestone

#: Chapter modules in the order of the book.
CHAPTERS = (
    "ch01_first_program",
    "ch02_point_to_point",
    "ch03_collectives",
    "ch04_topology",
    "ch05_data_parallel",
    "ch06_tensor_parallel",
    "ch07_pipeline_expert",
    "ch08_server",
    "ch09_kv_cache",
    "ch10_scheduling",
    "ch11_decoding",
    "ch12_rl",
    "ch13_rlhf",
    "ch14_systems",
    "capstone",
)


def _module(chapter: str):
    return importlib.import_module(f"autograder.bank.{chapter}")


def items() -> tuple[Item, ...]:
    """All items, in the order of the book."""
    return tuple(item for chapter in CHAPTERS for item in _module(chapter).ITEMS)


def builds() -> tuple[Build, ...]:
    """All build and debug items, in the order of the book."""
    return tuple(item for item in items() if isinstance(item, Build))


def milestones() -> tuple[Milestone, ...]:
    """Programs that must learn something; they stand beside the items and are asked for by name."""
    return _module("ch12_milestones").MILESTONES


def find(identifier: str) -> Item:
    """The item with this id.

    Raises:
        KeyError: there is none; the message lists ids that look alike.
    """
    for item in items():
        if item.id == identifier:
            return item
    import difflib

    near = difflib.get_close_matches(identifier, [item.id for item in items()], n=3)
    raise KeyError(f"no item {identifier!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))


def find_function(name: str) -> Build:
    """The build item whose function or class has this name.

    Raises:
        KeyError: no item asks for it.
    """
    for item in builds():
        if item.function == name:
            return item
    raise KeyError(f"no exercise asks for a function named {name!r}")

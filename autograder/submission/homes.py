"""Which of several definitions of one function counts, where a submission defines it in several files.

Within a file or notebook the last one counts, as in Python. Across files a written one beats a stub wherever it stands.
Of two that are written, the one in the function's own topic module counts, else the one that runs last; the report
names both if they differ.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autograder import syntax
from autograder.submission.definitions import definitions, is_check
from autograder.submission.units import Unit


@dataclass(frozen=True)
class Found:
    """The last definition of a function in a file: its module, whether it is a stub, its text as a tree."""

    file: str
    module: str | None
    stub: bool
    body: tuple[str, ...]


def settle(
    files: Mapping[str, Sequence[Unit]], modules: Mapping[str, str]
) -> tuple[tuple[Unit, ...], dict[str, str | None], list[str]]:
    """The units without stubs that would hide a written function; where else a function stands; what the report says.

    Args:
        files: the units of each file, in the order in which they run.
        modules: the topic module of each function that may be graded.
    """
    found: dict[str, list[Found]] = defaultdict(list)
    for file, units in files.items():
        for name, one in defined(file, units, modules).items():
            found[name].append(one)
    homes: dict[str, str | None] = {}
    notes: list[str] = []
    hidden: dict[str, set[str]] = defaultdict(set)
    for name, places in found.items():
        best = _best(places, modules[name])
        if best.module != modules[name] and (best.module or any(one.module == modules[name] for one in places)):
            homes[name] = best.module
        for other in places:
            if other.stub and not best.stub and other.module is None:
                hidden[other.file].add(name)
            elif not other.stub and other.body != best.body:
                notes.append(
                    f"{name} is written in {best.file} and, differently, in {other.file}: {best.file} counts,"
                    f" {other.file} does not"
                )
    kept = tuple(_without(unit, hidden[file]) for file, units in files.items() for unit in units)
    return kept, homes, notes


def _best(places: Sequence[Found], module: str) -> Found:
    written = [one for one in places if not one.stub] or places
    return next((one for one in written if one.module == module), written[-1])


def defined(file: str, units: Sequence[Unit], modules: Mapping[str, str]) -> dict[str, Found]:
    """The last definition of each function that may be graded."""
    result: dict[str, Found] = {}
    for unit in units:
        tree = syntax.tree_of(unit.source) if any(name in unit.source for name in modules) else None
        for node in tree.body if tree else ():
            for name, one in definitions([node]):
                if name in modules:
                    result[name] = Found(file, unit.module, one.stub, one.body)
            if isinstance(node, ast.Assign) and not is_check(node):
                for name in {part.id for part in node.targets if isinstance(part, ast.Name)} & modules.keys():
                    result[name] = Found(file, unit.module, False, (ast.dump(node),))
    return result


def _without(unit: Unit, names: set[str]) -> Unit:
    """A unit in which ``pass`` stands for each definition of these functions; its lines keep their numbers."""
    tree = syntax.tree_of(unit.source) if names else None
    if tree is None or unit.module is not None:
        return unit
    lines = unit.source.split("\n")
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name in names:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            end = node.end_lineno or first
            lines[first - 1 : end] = ["pass", *[""] * (end - first)]
    return replace(unit, source="\n".join(lines))

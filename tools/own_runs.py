"""Which code cells can run in the built page with the functions that a reader wrote there, and what each needs for it.

A cell qualifies when all it needs is plain Python: functions of the page that a browser can check, modules that a
browser can load, and statements of earlier cells that need no more than that. This is read from the syntax trees;
nothing is run. The page's Python has no Matplotlib: what the cell draws with one of the functions in :data:`CHARTS` is
drawn as a chart by the same function of :mod:`rankzero.charts.pictures`; any other drawing is left out, so that the
printed lines remain. Cells that run a world are those of :mod:`tools.world_runs`.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from autograder import bank
from autograder.items import Build
from autograder.learner import workbench
from tools import bundle
from tools.statements import Statement, linked, remembered, statements

#: Tags of cells that have an editor, and of those that measure the machine on which they run.
ELSEWHERE = frozenset({"exercise", "nbval-ignore-output", "gpu"})
#: The package that draws with Matplotlib, and the one that draws the same as charts.
DRAWING = "rankzero.figures"
CHARTING = "rankzero.charts.pictures"
#: The functions of the first that the second has.
CHARTS = frozenset({"plots.bars", "plots.curves", "schedules.draw"})
#: Modules of the standard library that load in a browser and find nothing to work with there.
PROCESSES = frozenset({"asyncio", "concurrent", "multiprocessing", "socket", "subprocess", "threading"})


class Unfit(Exception):
    """A cell needs something that the page's Python does not have; the text names it."""


@dataclass
class Program:
    """What a cell runs in the page: statements of earlier cells, its own, and the items whose functions it calls."""

    before: list[Statement] = field(default_factory=list)
    code: list[Statement] = field(default_factory=list)
    items: list[Build] = field(default_factory=list)
    chart: bool = False  # whether the cell ends in a chart
    picture: bool = False  # whether the cell also draws what the page leaves out

    def data(self) -> dict[str, Any]:
        """What ``autograder.learner.own_run.run`` takes, with the ids of the items for the page's script."""
        return {
            "functions": {item.function: f"solutions.{item.home}" for item in self.items},
            "items": {item.function: item.id for item in self.items},
            "before": "\n".join(statement.text for statement in self.before),
            "code": "\n".join(statement.text for statement in self.code),
            "picture": self.picture,
        }


def checked(node: ast.stmt) -> str:
    """The function in ``relay = check(relay)``; nothing for any other statement."""
    value = getattr(node, "value", None)
    if isinstance(node, ast.Assign) and isinstance(value, ast.Call) and ast.unparse(value.func) == "check":
        return ast.unparse(value.args[0])
    return ""


# What a browser can load


@functools.cache
def _loads(module: str) -> bool:
    try:
        bundle.collect([module])
    except ValueError:
        return False
    return True


def modules_of(node: ast.stmt) -> list[str]:
    """The modules that an import loads. In ``from package import name``, the name may be a module."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return [str(node.module), *(f"{node.module}.{name.name}" for name in node.names)]
    return []


def fit(statement: Statement) -> None:
    """Raise :class:`Unfit` for an import of something that a browser cannot load."""
    for module in modules_of(statement.node):
        top = module.partition(".")[0]
        if top in PROCESSES or not (_loads(module) if top in bundle.PACKAGES else top in sys.stdlib_module_names):
            raise Unfit(module)


# Programs


def _draws(statement: Statement, pictures: set[str]) -> bool:
    return bool(statement.reads & pictures) and "print" not in statement.reads


def drawings(cell: Iterable[Statement], pictures: set[str]) -> list[Statement]:
    """The statements of a cell that draw; ``pictures`` are the names of modules that do."""
    result, drawn = [], set(pictures)
    for statement in cell:
        if _draws(statement, drawn):
            result.append(statement)
            drawn |= statement.binds
    return result


def drawing_modules(earlier: Iterable[Statement]) -> dict[str, str]:
    """The modules of :data:`DRAWING` that the earlier statements import, by their names on the page."""
    imports = [(statement, modules_of(statement.node)) for statement in earlier]
    return {name: paths[-1] for one, paths in imports if paths and paths[-1].startswith(DRAWING) for name in one.binds}


def _used(node: ast.AST, names: Mapping[str, str]) -> Iterator[str]:
    """What a statement uses of modules that draw, by its path in their package: ``plots.bars``."""
    if isinstance(node, ast.Attribute | ast.Name):
        first, dot, rest = ast.unparse(node).partition(".")
        if first in names:
            yield (names[first] + dot + rest).removeprefix(DRAWING).removeprefix(".")
            return
    for part in ast.iter_child_nodes(node):
        yield from _used(part, names)


def _charted(statement: Statement, names: Mapping[str, str]) -> bool:
    """Whether all that a statement uses of modules that draw can be drawn as a chart."""
    used = {*_used(statement.node, names)}
    return used <= CHARTS and (bool(used) or not statement.reads & names.keys())


def _charting(statement: Statement, names: Mapping[str, str]) -> Statement:
    """An earlier statement as it is before a chart: it imports what draws charts, and what it drew does not matter."""
    if not any(module.startswith(DRAWING) for module in modules_of(statement.node)):
        return replace(statement, changes=statement.changes - names.keys())
    (name,) = statement.binds
    package, _, module = (CHARTING + names[name].removeprefix(DRAWING)).rpartition(".")
    return statements(f"from {package} import {module} as {name}")[0]


def needed(
    earlier: Sequence[Statement],
    program: Program,
    fits: Callable[[Statement], None] = fit,
    can: Callable[[Build], bool] = workbench.plain,
) -> None:
    """Put into ``program`` what its own statements need of the earlier ones.

    Args:
        earlier: the statements before the cell.
        program: holds the cell's own statements.
        fits: raises :class:`Unfit` for a statement that cannot run.
        can: whether the function of an item can run.

    Raises:
        Unfit: they need something that a browser does not have, or that no statement binds.
    """
    needs: set[str] = set()
    for statement in reversed(program.code):
        needs = needs - statement.hides | statement.reads
    for statement in reversed(earlier):
        if not needs & (statement.binds | statement.changes):
            continue
        if name := checked(statement.node):
            program.items.insert(0, _item(name, can))
            needs.discard(name)
            continue
        fits(statement)
        needs = needs - statement.hides | statement.reads
        program.before.insert(0, statement)
    if missing := needs - set(dir(builtins)):
        raise Unfit(min(missing))


def _item(function: str, can: Callable[[Build], bool]) -> Build:
    item = next((item for item in bank.builds() if item.function == function), None)
    if item is None or not can(item):
        raise Unfit(function)
    return item


def program(earlier: Sequence[Statement], cell: Sequence[Statement]) -> Program:
    """The program of a cell after the statements ``earlier`` of its page.

    Raises:
        Unfit: it calls no function of the reader, shows nothing, or needs what a browser does not have.
    """
    names = drawing_modules(earlier)
    drawn = drawings(cell, {*names})
    chart = bool(drawn) and cell[-1] is drawn[-1] and isinstance(cell[-1].node, ast.Expr)
    chart = chart and all(_charted(statement, names) for statement in drawn)
    found = Program(code=[one for one in cell if chart or one not in drawn], chart=chart)
    found.picture = len(found.code) < len(cell)
    for statement in found.code:
        fit(statement)
    needed([_charting(one, names) if chart else one for one in earlier], found)
    if not found.items:
        raise Unfit("a function of the page")
    if not chart and not any("print" in statement.reads for statement in found.code):
        raise Unfit("printed lines")
    if chart and not all(_charted(statement, names) for statement in (*found.before, *found.code)):
        raise Unfit(DRAWING)
    return found


@remembered
def programs(cells: Sequence[Any]) -> dict[str, Program]:
    """The programs of the cells of a notebook that qualify, by the id of the cell."""
    result: dict[str, Program] = {}
    earlier: list[Statement] = []
    functions: dict[str, frozenset[str]] = {}
    for cell in cells:
        if cell.cell_type != "code":
            continue
        own = linked(statements(cell.source), functions)
        if not ELSEWHERE & {*cell.metadata.get("tags", ())}:
            with contextlib.suppress(Unfit):
                result[cell["id"]] = program(earlier, own)
        earlier += own
    return result


@remembered
def uses(cells: Sequence[Any]) -> dict[str, list[str]]:
    """The items whose functions the cells of a notebook call, wherever they run: ids, by the id of the cell."""
    found: dict[str, list[str]] = {}
    earlier: list[Statement] = []
    functions: dict[str, frozenset[str]] = {}
    for cell in (one for one in cells if one.cell_type == "code"):
        own = linked(statements(cell.source), functions)
        if not any(checked(one.node) for one in own):
            wanted = Program(code=[*own])
            with contextlib.suppress(Unfit):
                needed(earlier, wanted, lambda _: None, lambda _: True)
            found[cell["id"]] = [item.id for item in wanted.items]
        earlier += own
    return {name: items for name, items in found.items() if items}


def place(found: Program) -> str:
    """Where the page's script (``book/_static/own-run.js``) offers the cell above with the reader's functions."""
    return f'<div class="rz-own" hidden data-own="{escape(json.dumps(found.data()))}"></div>'


def modules(cells: Sequence[Any]) -> set[str]:
    """The modules that the programs of a notebook import."""
    parts = (part for found in programs(cells).values() for part in (*found.before, *found.code))
    return {module for part in parts for module in modules_of(part.node)}

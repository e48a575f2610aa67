"""Which code cells can run in the built page on ranks of its own, and what each needs for it.

A rank in the page is a Python in a worker of the browser; messages between ranks are real, tensors are a small stand-in
for torch, and times are not real. A cell qualifies when it runs a world and prints something, and needs no more than
that: plain Python, functions of the page that a browser can check, and modules of the course that import nothing beyond
torch and the standard library. Cells that measure time, whose result differs from run to run, or that show what one
library makes of a program stay as they are built, with a line that says why. All of this is read from the syntax trees
and the tags; nothing is run.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from autograder import closure, syntax
from autograder.learner import workbench
from tools import bundle, own_runs
from tools.own_runs import PROCESSES, Unfit
from tools.statements import Statement, linked, remembered, statements

#: Tags of cells: the number of ranks may be 2, 3 or 4; what comes out is up to the library that moves the data.
ANY_RANKS, LIBRARY = "any-ranks", "library"
#: What the page has in place of this package and of torch.
WORLD, TORCH = "rankzero.world", "torch"
#: Modules of the standard library that do not mean in a page what they mean on a machine.
UNREAL = PROCESSES | {"time"}
#: A tensor of this many elements takes longer from rank to rank than a reader waits.
LARGE = 1_000_000
#: Why a cell that runs a world stays as it is built.
MACHINE = "what it shows depends on a real machine and its clock. The output above is that of the book's build."
LIBRARIES = "what it shows is up to the library that moves the data, and this page has another one."
SIZE = "its tensors of a million elements are too large for the ranks of this page."
OTHER = "it needs more than the ranks of this page have."


@dataclass
class WorldProgram(own_runs.Program):
    """What a cell that runs a world needs: as for other cells, with its id, its own lines, and its number of ranks."""

    name: str = ""
    source: str = ""
    ranks: int | None = None  # the number in the cell, where 2, 3 and 4 work alike

    def data(self) -> dict[str, Any]:
        """What the page's script takes. ``lines`` says where each earlier statement begins in its own cell."""
        lines = [first_line(statement) for statement in self.before]
        more = {"world": True, "id": self.name, "ranks": self.ranks, "lines": lines, "code": self.source}
        return super().data() | more


def first_line(statement: Statement) -> int:
    """The line of its cell in which a statement begins; 1 for one of several imports in a line."""
    node = statement.node
    return min(getattr(one, "lineno", 1) for one in (node, *getattr(node, "decorator_list", ())))


def _world_calls(statement: Statement) -> list[ast.Call]:
    """The calls of ``world.run`` in a statement, at once or in a function that it defines."""
    calls = (node for node in ast.walk(statement.node) if isinstance(node, ast.Call))
    return [call for call in calls if ast.unparse(call.func) == "world.run"]


# What the ranks of a page can load


def _file(module: str) -> Path | None:
    """The file of a module of the course; None for any other module."""
    return closure.file_of(module, bundle.PACKAGES)


def _provided(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in (WORLD, TORCH))


@functools.cache
def imported(module: str) -> frozenset[str]:
    """A module and all that it imports, directly or through modules of the course."""

    def loads(name: str) -> Iterable[str]:
        file = None if _provided(name) else _file(name)
        return closure.loads(name, file) if file else ()

    return frozenset(syntax.reached([module], loads))


def _fit(statement: Statement) -> None:
    """Raise :class:`Unfit` for an import of something that a page does not have, and for a tensor that is too large."""
    for name in own_runs.modules_of(statement.node):
        for module in sorted(imported(name)):
            top = module.partition(".")[0]
            if top in UNREAL or not (top in (*bundle.PACKAGES, TORCH) or top in sys.stdlib_module_names):
                raise Unfit(top)
    numbers = (node.value for node in ast.walk(statement.node) if isinstance(node, ast.Constant))
    if any(isinstance(number, int) and number >= LARGE for number in numbers):
        raise Unfit(SIZE)


def _is_module(name: str) -> bool:
    return _provided(name) or _file(name) is not None


def _steady(earlier: Iterable[Statement]) -> list[Statement]:
    """The earlier statements, none of which changes a module: ``world.run(...)`` leaves ``world`` as it is."""
    modules: set[str] = set()
    result = []
    for statement in earlier:
        names = own_runs.modules_of(statement.node)
        if names and (isinstance(statement.node, ast.Import) or _is_module(names[-1])):
            modules |= statement.binds
        result.append(replace(statement, changes=statement.changes - modules))
    return result


def _can(item: Any) -> bool:
    return workbench.plain(item) or workbench.in_ranks(item)


# Programs


def _written_ranks(cell: Iterable[Statement]) -> int | None:
    """The number in ``world.run(..., ranks=4)``, where it stands once in the cell."""
    calls = [node for statement in cell for node in ast.walk(statement.node) if isinstance(node, ast.Call)]
    given = [
        word.value
        for call in calls
        if ast.unparse(call.func) == "world.run"
        for word in call.keywords
        if word.arg == "ranks"
    ]
    numbers = [value.value for value in given if isinstance(value, ast.Constant) and isinstance(value.value, int)]
    return numbers[0] if len(numbers) == len(given) == 1 else None


def _without(source: str, left_out: Iterable[Statement]) -> str:
    """The source of a cell with blank lines in place of some statements, so that every other line keeps its number."""
    lines = source.split("\n")
    for statement in left_out:
        first, last = first_line(statement) - 1, statement.node.end_lineno or first_line(statement)
        lines[first:last] = [""] * (last - first)
    return "\n".join(lines).rstrip("\n")


def program(
    earlier: Sequence[Statement], cell: Sequence[Statement], source: str, tags: Iterable[str] = ()
) -> WorldProgram:
    """The program of a cell that runs a world, or shows what an earlier one came to.

    Raises:
        Unfit: no world is run, nothing is printed, or it needs what a page does not have.
    """
    drawn = own_runs.drawings(cell, {*own_runs.drawing_modules(earlier)})
    world_program = WorldProgram(
        code=[one for one in cell if one not in drawn], picture=bool(drawn), source=_without(source, drawn)
    )
    for statement in world_program.code:
        _fit(statement)
    own_runs.needed(_steady(earlier), world_program, _fit, _can)
    if not any(map(_world_calls, (*world_program.before, *world_program.code))):
        raise Unfit("world.run")
    if not any("print" in statement.reads for statement in world_program.code):
        raise Unfit("printed lines")
    if ANY_RANKS in tags:
        world_program.ranks = _written_ranks(world_program.code)
    return world_program


def _chapter(cells: Sequence[Any]) -> int:
    """The number of the chapter whose cells these are, read from its first heading with one; 0 where there is none."""
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    heading = re.search(r"^#+ (\d+)\.", text, re.MULTILINE)
    return int(heading[1]) if heading else 0


def _program(earlier: Sequence[Statement], cell: Any, own: Sequence[Statement]) -> WorldProgram:
    """The program of a cell, as :func:`program` says.

    Raises:
        Unfit: it has none; where the cell itself runs a world, the text is the reason that a reader is told.
    """
    tags = {*cell.metadata.get("tags", ())}
    try:
        if own_runs.ELSEWHERE & tags:
            raise Unfit(MACHINE)
        if LIBRARY in tags:
            raise Unfit(LIBRARIES)
        found = program(earlier, own, cell.source, tags)
    except Unfit as lack:
        told = {SIZE: SIZE, LIBRARIES: LIBRARIES, MACHINE: MACHINE, **dict.fromkeys(UNREAL, MACHINE)}
        raise Unfit(told.get(str(lack), OTHER)) from None
    found.name = cell["id"]
    return found


def _starts(earlier: Iterable[Statement], cell: Iterable[Statement]) -> bool:
    """Whether a cell runs a world, starts processes or reads a clock, by itself or in a module that it calls."""
    names: set[str] = set()
    for statement in earlier:
        needed = {part for name in own_runs.modules_of(statement.node) for part in imported(name)}
        names |= statement.binds if needed & UNREAL or WORLD in needed else set()
    calls = [node.func for one in cell for node in ast.walk(one.node) if isinstance(node, ast.Call)]
    return any(ast.unparse(function).partition(".")[0] in names for function in calls)


def sorted_out(cells: Sequence[Any]) -> tuple[dict[str, WorldProgram], dict[str, str]]:
    """The programs of the cells of a notebook that run on ranks in the page, and why others that run a world do not.

    Both are by the id of the cell; a cell that runs without ranks (:mod:`tools.own_runs`) is in neither.
    """
    return _sorted_out(cells) if 0 < _chapter(cells) <= workbench.LAST_IN_RANKS else ({}, {})


@remembered
def _sorted_out(cells: Sequence[Any]) -> tuple[dict[str, WorldProgram], dict[str, str]]:
    found: dict[str, WorldProgram] = {}
    reasons: dict[str, str] = {}
    plain = own_runs.programs(cells)
    earlier: list[Statement] = []
    functions: dict[str, frozenset[str]] = {}
    for cell in (cell for cell in cells if cell.cell_type == "code"):
        own = linked(statements(cell.source), functions)
        if cell["id"] not in plain and "exercise" not in cell.metadata.get("tags", ()):
            try:
                found[cell["id"]] = _program(earlier, cell, own)
            except Unfit as reason:
                told = any(map(_world_calls, own)) or (str(reason) == MACHINE and _starts(earlier, own))
                reasons |= {cell["id"]: str(reason)} if told else {}
        earlier += own
    return found, reasons


def place(world_program: WorldProgram) -> str:
    """Where the page's script (``book/_static/rank-cells.js``) offers to run the cell above on ranks of the page."""
    return f'<div class="rz-ranks" hidden data-ranks="{escape(json.dumps(world_program.data()))}"></div>'


def note(name: str, reason: str) -> str:
    """The line below a cell that stays as it is built; the script shows it, with the way to that cell in Colab."""
    return f'<p class="rz-stays" hidden data-cell="{name}">Runs in a notebook only: {reason}</p>'


def modules(cells: Sequence[Any]) -> set[str]:
    """The modules of the course that a world's cells import, and the references of the functions that they call."""
    found: set[str] = set()
    for program in sorted_out(cells)[0].values():
        found |= {name for part in (*program.before, *program.code) for name in own_runs.modules_of(part.node)}
        found |= {f"solutions.{item.home}" for item in program.items}
    return {module for name in found for module in imported(name) if not _provided(module) and _file(module)}

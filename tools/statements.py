"""The statements of a code cell, and which names each binds, reads and may change, read from its syntax tree."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from autograder import syntax

#: Statements that bind a name without a look at what it meant before.
FRESH = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
Found = TypeVar("Found")
_MAGIC = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)


def parse(source: str) -> ast.Module:
    """The syntax tree of a cell, whose lines for the notebook itself (``%pip``, ``!nvidia-smi``) count as ``pass``."""
    return ast.parse(_MAGIC.sub(r"\1pass", source))


def remembered(find: Callable[[Sequence[Any]], Found]) -> Callable[[Sequence[Any]], Found]:
    """A function of the code cells of a notebook that keeps what it found: a build asks for each page several times."""
    kept: dict[tuple[Any, ...], Found] = {}

    @functools.wraps(find)
    def found(cells: Sequence[Any]) -> Found:
        code = (cell for cell in cells if cell.cell_type == "code")
        key = tuple((cell.get("id"), cell.source, *cell.metadata.get("tags", ())) for cell in code)
        if key not in kept:
            kept[key] = find(cells)
        return kept[key]

    return found


def imported(sources: Iterable[str]) -> dict[str, str]:
    """What cells import with ``from ... import``, by the name on the page: ``{"runs": "experiments.ch05.runs"}``."""
    nodes = (node for source in sources for node in ast.walk(parse(source)))
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and not node.level
        for alias in node.names
    }


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a cell, with names of the page.

    Attributes:
        node: its syntax tree.
        text: its source.
        binds: names that it binds.
        reads: names that it reads when it runs.
        later: names that the function it defines reads when it is called.
        changes: names of objects that it may change in place.
    """

    node: ast.stmt
    text: str
    binds: frozenset[str]
    reads: frozenset[str]
    later: frozenset[str]
    changes: frozenset[str]

    @property
    def hides(self) -> frozenset[str]:
        """The names whose earlier meaning no longer counts after this statement."""
        return self.binds if isinstance(self.node, FRESH) else frozenset()


def _base(node: ast.expr) -> str:
    """The name that ``node`` begins with: ``runs`` in ``runs["ring"].times``; nothing where it begins otherwise."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _changed(node: ast.AST) -> set[str]:
    """The names of objects that a part of a statement may change, or hand to another object that may do so later."""
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return {_base(node)}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
        return {_base(node.value.func)}
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2][:1].isupper():  # a class
        return {given.id for given in node.args if isinstance(given, ast.Name)}
    return set()


def _names(node: ast.stmt) -> tuple[set[str], set[str]]:
    """The names that a simple statement or a definition binds, and all that it reads."""
    binds, reads, scoped = syntax.symbols(node)
    return binds, reads | scoped


def _head(node: ast.stmt) -> list[ast.stmt]:
    """What a compound statement does before its first block, as simple statements."""
    if isinstance(node, ast.For):
        return [ast.Assign([node.target], node.iter, lineno=0)]
    if isinstance(node, ast.With):
        return [ast.Assign([item.optional_vars or ast.Name("_")], item.context_expr, lineno=0) for item in node.items]
    return [ast.Expr(node.test)] if isinstance(node, ast.If | ast.While) else []


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a compound statement; none for any other."""
    if not isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.Try):
        return []
    handlers = [
        [*([ast.parse(f"{handler.name} = 0").body[0]] if handler.name else []), *handler.body]
        for handler in _handlers(node)
    ]
    return [node.body, *handlers, getattr(node, "orelse", []), getattr(node, "finalbody", [])]


def _handlers(node: ast.stmt) -> list[ast.ExceptHandler]:
    return node.handlers if isinstance(node, ast.Try) else []


def _read(body: Iterable[ast.stmt], bound: set[str]) -> tuple[set[str], set[str]]:
    """The names that ``body`` may read before it binds them, and all that it binds; ``bound`` are bound already."""
    reads: set[str] = set()
    known, binds = set(bound), set()
    for node in body:
        blocks = _blocks(node)
        for part in _head(node) if blocks else [node]:
            more, read = _names(part)
            reads |= read - known
            known |= more
            binds |= more
        for block in blocks:
            read, more = _read(block, known)
            reads |= read
            binds |= more
        reads |= {
            name for handler in _handlers(node) if handler.type for name in _names(ast.Expr(handler.type))[1]
        } - known
        if isinstance(node, ast.With | ast.If):  # whichever of its blocks runs, these are bound after it
            surely = [node.body] if isinstance(node, ast.With) else [node.body, node.orelse]
            known |= set.intersection(*(_read(block, known)[1] for block in surely))
    return reads, binds


def _statement(node: ast.stmt, text: str) -> Statement:
    parts = () if isinstance(node, ast.FunctionDef | ast.ClassDef) else tuple(ast.walk(node))
    reads, binds = _read([node], set())
    later: set[str] = set()
    if isinstance(node, ast.FunctionDef):
        _, reads, later = syntax.symbols(node)
    changes = frozenset(name for part in parts for name in _changed(part)) - {""}
    return Statement(node, text, frozenset(binds), frozenset(reads), frozenset(later), changes)


@functools.cache
def statements(source: str) -> tuple[Statement, ...]:
    """The statements of a cell in their order; an import of several names is one statement for each."""
    found = []
    for node in parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in node.names:
                one = ast.Import([name]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [name], 0)
                found.append(_statement(one, ast.unparse(one)))
        else:
            lines = source.split("\n")[syntax.first_line(node) - 1 : node.end_lineno]
            found.append(_statement(node, "\n".join(lines)))
    return tuple(found)


def linked(cell: Iterable[Statement], functions: dict[str, frozenset[str]]) -> list[Statement]:
    """The statements of a cell, each reading what the functions it may call read at that place of the page.

    ``functions`` is what each function of the page reads so far, by name; it is brought up to date.
    """
    result = []
    for statement in cell:
        reads = syntax.reached(statement.reads, lambda name: functions.get(name, ()))
        result.append(replace(statement, reads=frozenset(reads)))
        for name in statement.binds:
            functions.pop(name, None)
            if isinstance(statement.node, ast.FunctionDef):
                functions[name] = statement.later
    return result

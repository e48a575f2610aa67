"""A notebook read as JSON: the statements of its code cells that matter, and answers typed into ``predict``.

No cell is run here. Imports, definitions and constants are kept, and whatever else a graded function needs (``needs``).
The rest of a cell (``world.run``, ``check``, plots, servers) is dropped, while line numbers stay those of the learner's
cell. A cell that cannot be read is reported, and the others still count.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from autograder import bank, syntax
from autograder.submission import magics, needs, typed
from autograder.submission.units import Unit, Unreadable, check_size, decode

#: Calls whose value is a constant or a type.
PLAIN_CALLS = {"float", "int", "bool", "complex", "str", "bytes", "range", "list", "tuple", "set", "frozenset", "dict"}
PLAIN_CALLS |= {"namedtuple", "NamedTuple", "TypeVar", "Fraction", "Decimal"}
#: What the right side of a constant assignment may consist of, besides calls of the names above.
PLAIN = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp),
    *(ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.Starred),
)
#: Most code cells of a notebook: a chapter has about 150.
CELL_LIMIT = 10_000


@dataclass(frozen=True)
class Cell:
    """A code cell that is Python: what a report calls it, its text without magics, its tree, and what magics assign."""

    label: str
    source: str
    tree: ast.Module
    assigned: tuple[tuple[int, str], ...] = ()


def parts(
    file: str, data: bytes, functions: Collection[str] | None = None
) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, tuple[Any, ...]]]:
    """Units, problems and typed answers of a notebook; ``functions`` are those that may be graded, by default all.

    Raises:
        Unreadable: it is not a notebook at all.
    """
    cells = _code_cells(file, decode(file, data))
    check_cells(file, cells)
    check_size(file, (line for cell in cells for line in _lines(cell)))
    return read(((f"cell {number}", cell) for number, cell in enumerate(cells, start=1)), functions)


def check_cells(file: str, cells: Sized) -> None:
    """Refuse more cells than a submission needs, since each broken one adds a sentence to the report.

    Raises:
        Unreadable: there are more than ``CELL_LIMIT``.
    """
    if len(cells) > CELL_LIMIT:
        raise Unreadable(f"{file} holds more than {CELL_LIMIT:,} cells: hand in your labs alone")


def read(
    cells: Iterable[tuple[str, Any]], functions: Collection[str] | None = None
) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, tuple[Any, ...]]]:
    """Units, problems and typed answers of ``cells``: pairs of what a report calls the cell, and its source."""
    found: list[Cell] = []
    problems: list[str] = []
    given: dict[str, tuple[Any, ...]] = {}
    for label, cell in cells:
        text = ""
        try:
            text = magics.restored(_source(cell))
            source, tree = parse(text)
            found.append(Cell(label, source, tree, () if source == text else tuple(magics.assigned(text))))
        except Unreadable as error:
            problems.append(f"{label} {error}")
            given |= typed.unread(text)
        except RecursionError:
            problems.append(f"{label} is nested too deeply to be read")
    if any(_asks(cell.source) for cell in found):
        given = merged(given, typed.answers(cell.tree for cell in found))
    units, left = _units(found, _graded() if functions is None else functions)
    return units, (*problems, *left), given


def merged(first: Mapping[str, tuple[Any, ...]], second: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """The answers of two parts of a submission. Those of the second count; a card that is only shown is no answer."""
    return {**first, **{question: answer for question, answer in second.items() if answer or question not in first}}


def _graded() -> frozenset[str]:
    """The names of all functions that the course grades."""
    return frozenset(item.function for item in (*bank.builds(), *bank.on_request()))


def _units(cells: Sequence[Cell], functions: Collection[str]) -> tuple[tuple[Unit, ...], list[str]]:
    """What is kept of the cells, and a sentence about each line that is needed and left out."""
    lines = [cell.source.encode().split(b"\n") for cell in cells]
    statements = [
        [(node, _segment(rows, node)) for node in cell.tree.body] for cell, rows in zip(cells, lines, strict=True)
    ]
    places, names = needs.needed([one for of_cell in statements for one in of_cell], functions)
    units: list[Unit] = []
    first = 0
    for cell, of_cell in zip(cells, statements, strict=True):
        wanted = {index - first for index in range(first, first + len(of_cell)) if index in places}
        kept = [index for index, (node, _) in enumerate(of_cell) if index in wanted or _is_kept(node)]
        told = tuple(number for number, place in enumerate(kept) if place in wanted)
        units.append(Unit(cell.label, _joined([of_cell[index] for index in kept]), None, told))
        first += len(of_cell)
    left = [(cell.label, line, name) for cell in cells for line, name in cell.assigned if name in names]
    why = "from a magic or a shell command, which grading does not run: write it in Python"
    return (
        tuple(unit for unit in units if unit.source),
        [f"{label} line {line} gets {name} {why}" for label, line, name in left],
    )


def recognise(text: str) -> bool:
    """Whether a text is a notebook, whatever its file is called."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        return _cells(json.loads(text)) is not None
    except (ValueError, RecursionError):
        return False


def _code_cells(file: str, text: str) -> list[Any]:
    """The sources of the code cells, not yet checked to be text."""
    try:
        cells = _cells(json.loads(text))
    except (ValueError, RecursionError):
        if _is_python(text):
            raise Unreadable(f"{file} is not a notebook but Python: rename it so that it ends in .py") from None
        raise Unreadable(f"{file} is not a notebook: it is not JSON; save it again in Jupyter") from None
    if cells is None:
        raise Unreadable(f"{file} is not a notebook: it has no list of cells; save it again in Jupyter")
    code = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    if not code:
        raise Unreadable(f"{file} has no code cell: hand in the notebook that holds your functions")
    return [cell.get("source", cell.get("input")) for cell in code]


def _is_python(text: str) -> bool:
    """Whether a text defines or imports something, as a .py file does."""
    tree = syntax.tree_of(text)
    defining = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return tree is not None and any(isinstance(node, defining) for node in tree.body)


def _cells(notebook: Any) -> list[Any] | None:
    """The cells of a notebook, or None if it is not one. Formats before 2015 kept them in worksheets."""
    if not isinstance(notebook, dict):
        return None
    cells, sheets = notebook.get("cells"), notebook.get("worksheets")
    if cells is None and isinstance(sheets, list):
        inside = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for sheet in inside if isinstance(sheet, list) for cell in sheet]
    return cells if isinstance(cells, list) else None


def _lines(cell: Any) -> list[str]:
    """The source of a cell as strings: nbformat allows one string or a list of lines. Empty for anything else."""
    pieces = cell if isinstance(cell, list) else [cell]
    return pieces if all(isinstance(piece, str) for piece in pieces) else []


def _source(cell: Any) -> str:
    """The text of a cell, ready to be parsed."""
    source = "".join(_lines(cell))
    if not source and cell not in ("", []):
        raise Unreadable("has no text: save the notebook again in Jupyter")
    if "\0" in source:
        raise Unreadable("holds null bytes")
    # JSON may contain a lone surrogate; UTF-8 may not.
    return source.encode("utf-8", "replace").decode().replace("\r\n", "\n").replace("\r", "\n")


def parse(source: str) -> tuple[str, ast.Module]:
    """The source without magics, and its syntax tree; both empty for a cell in another language (``%%bash``)."""
    source = magics.without_cell_magics(source)
    faults: list[BaseException] = []
    for repair in (str, magics.without_magics, magics.without_comments):
        source = repair(source)
        try:
            return source, syntax.parse(source)
        except syntax.BROKEN as error:
            faults.append(error)
    if isinstance(fault := faults[1], SyntaxError):
        line = "".join(source.split("\n")[(fault.lineno or 1) - 1 : fault.lineno])
        raise Unreadable(f"is not Python: {fault.msg} at line {fault.lineno}{syntax.newer(fault.msg or '', line)}")
    raise Unreadable("is nested too deeply to be read")


def _joined(statements: Iterable[tuple[ast.stmt, str]]) -> str:
    """The text of some statements of a cell, each on its original line."""
    text: list[str] = []
    line = 1
    for node, segment in statements:
        first = first_line(node)
        text += ["\n" * (first - line) if first > line else ";" if text else "", segment]
        line = node.end_lineno or node.lineno
    return "".join(text)


def first_line(node: ast.stmt) -> int:
    """The line on which a statement begins, its decorators included."""
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _segment(lines: list[bytes], node: ast.stmt) -> str:
    """The text of a statement with its decorators (offsets in the syntax tree count bytes)."""
    first, last = first_line(node) - 1, (node.end_lineno or node.lineno) - 1
    start = node.col_offset if first == node.lineno - 1 else 0
    if first == last:  # sliced once: a long line may hold many statements
        return lines[first][start : node.end_col_offset].decode()
    return b"\n".join([lines[first][start:], *lines[first + 1 : last], lines[last][: node.end_col_offset]]).decode()


def _is_kept(node: ast.stmt) -> bool:
    """Whether a statement is kept: an import, a definition, a constant, or an ``if`` or ``try`` around nothing else."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return True
        case ast.ClassDef() | ast.Pass():
            return True
        case ast.Assign() | ast.AnnAssign():
            return node.value is not None and _is_constant(node.value)
        case ast.If():
            return _is_constant(node.test) and all(map(_is_kept, node.body + node.orelse))
        case ast.Try():
            handlers = [statement for handler in node.handlers for statement in handler.body]
            return all(map(_is_kept, node.body + handlers + node.orelse + node.finalbody))
    return False


def _is_constant(node: ast.expr) -> bool:
    """Whether an expression is made of literals, names, operators and plain constructors."""
    if isinstance(node, ast.Lambda):
        return True
    if isinstance(node, ast.Call):
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        return isinstance(node.func, ast.Name) and node.func.id in PLAIN_CALLS and all(map(_is_constant, parts))
    children = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    return isinstance(node, PLAIN) and all(map(_is_constant, children))


def answers(source: str) -> dict[str, tuple[Any, ...]]:
    """The answers that a source file types into ``predict`` and ``design``, by question."""
    if not _asks(source):
        return {}
    try:
        return typed.answers([syntax.parse(source)])
    except syntax.BROKEN:
        return typed.unread(source)


def _asks(source: str) -> bool:
    return "predict" in source or "design" in source

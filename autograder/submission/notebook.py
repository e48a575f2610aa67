"""A notebook read as JSON: imports, definitions and constants of its code cells, and answers typed into ``predict``.

No cell is run here. Everything else in a cell (``world.run``, ``check``, plots, servers) is dropped, while line numbers
stay those of the learner's cell. A cell that cannot be read is reported, and the others still count.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sized
from typing import Any

from autograder import syntax
from autograder.submission.literals import literal
from autograder.submission.units import Unit, Unreadable, check_size, decode

#: A line for IPython, not Python: a magic, a shell command, an assignment from either, a request for help.
MAGIC = re.compile(r"^([ \t]*)(?:[%!?].*|\w[\w., ]*=[ \t]*[%!].*|[\w.]+\?{1,2}[ \t]*)$", re.MULTILINE)
#: Such a line that backslashes continue over the lines below.
JOINED = re.compile(r"^([ \t]*)(?:[%!]|\w[\w., ]*=[ \t]*[%!])(?:.*\\\n)+.*", re.MULTILINE)
#: A magic in a comment, as jupytext (after the indentation) and Colab (before it) write it into a script.
COMMENTED = re.compile(r"^([ \t]*)#[ \t]?([ \t]*)[%!][^%\s].*$", re.MULTILINE)
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


def parts(file: str, data: bytes) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, tuple[Any, ...]]]:
    """Units, problems and typed answers of a notebook.

    Raises:
        Unreadable: it is not a notebook at all.
    """
    cells = _code_cells(file, decode(file, data))
    check_size(file, (line for cell in cells for line in _lines(cell)))
    check_cells(file, cells)
    return read((f"cell {number}", cell) for number, cell in enumerate(cells, start=1))


def check_cells(file: str, cells: Sized) -> None:
    """Refuse more cells than a submission needs, since each broken one adds a sentence to the report.

    Raises:
        Unreadable: there are more than ``CELL_LIMIT``.
    """
    if len(cells) > CELL_LIMIT:
        raise Unreadable(f"{file} holds more than {CELL_LIMIT:,} cells: hand in your labs alone")


def read(cells: Iterable[tuple[str, Any]]) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, tuple[Any, ...]]]:
    """Units, problems and typed answers of ``cells``: pairs of what a report calls the cell, and its source."""
    units: list[Unit] = []
    problems: list[str] = []
    typed: dict[str, tuple[Any, ...]] = {}
    for label, cell in cells:
        try:
            source, tree = parse(_source(cell))
            units.append(Unit(label, _kept(source, tree)))
            typed |= _answers(tree) if _asks(source) else {}
        except Unreadable as error:
            problems.append(f"{label} {error}")
        except RecursionError:
            problems.append(f"{label} is nested too deeply to be read")
    return tuple(unit for unit in units if unit.source), tuple(problems), typed


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
        raise Unreadable(f"{file} is not a notebook: it is not JSON; save it again in Jupyter") from None
    if cells is None:
        raise Unreadable(f"{file} is not a notebook: it has no list of cells; save it again in Jupyter")
    code = [cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    if not code:
        raise Unreadable(f"{file} has no code cell: hand in the notebook that holds your functions")
    return [cell.get("source", cell.get("input")) for cell in code]


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
    if source.lstrip().startswith("%%"):
        if re.search(r"^(def|class) ", source, re.MULTILINE):
            raise Unreadable("starts with %% and is skipped, with the definitions in it")
        source = ""
    faults: list[BaseException] = []
    for repair in (str, _plain, _uncommented):
        source = repair(source)
        try:
            return source, syntax.parse(source)
        except syntax.BROKEN as error:
            faults.append(error)
    if isinstance(fault := faults[1], SyntaxError):
        raise Unreadable(f"is not Python: {fault.msg} at line {fault.lineno}")
    raise Unreadable("is nested too deeply to be read")


def _plain(source: str) -> str:
    """The source with ``pass`` in place of IPython's lines; the number of lines does not change."""
    source = JOINED.sub(lambda match: f"{match[1]}pass" + "\n" * match[0].count("\n"), source)
    return MAGIC.sub(r"\1pass", source)


def _uncommented(source: str) -> str:
    """The source with ``pass`` for magics that a tool commented out: one may have been the only line of a branch."""
    return COMMENTED.sub(r"\1\2pass", source)


def _kept(source: str, tree: ast.Module) -> str:
    """The statements of a cell that are kept, each on its original line."""
    lines = source.encode().split(b"\n")
    text: list[str] = []
    line = 1
    for node in filter(_is_kept, tree.body):
        first = first_line(node)
        text += ["\n" * (first - line) if first > line else ";" if text else "", _segment(lines, node)]
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
    """The answers that a source file types into ``predict`` and ``design``, by question; none if it is not Python."""
    if not _asks(source):
        return {}
    try:
        return _answers(syntax.parse(source))
    except syntax.BROKEN:
        return {}


def _asks(source: str) -> bool:
    return "predict" in source or "design" in source


def _answers(tree: ast.Module) -> dict[str, tuple[Any, ...]]:
    """The last answers to each question. An answer that is not made of literals becomes None."""
    typed = {}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        question, *values = map(literal, node.args)
        if not isinstance(question, str):
            continue
        if node.func.id == "predict":
            typed[question] = tuple(values)
        elif node.func.id == "design":
            chosen = {keyword.arg: literal(keyword.value) for keyword in node.keywords if keyword.arg}
            chosen.pop("confidence", None)
            typed[question] = (chosen,) if chosen else ()
    return typed

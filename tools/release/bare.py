"""A page without torch, as far as it goes: each statement runs by itself, and what needs torch is passed over."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import nbformat

from tools.release.environments import LACKING

_NAME = re.compile(r"name '(\w+)' is not defined")
#: Methods that put something into what they are called on.
_FILLS = {"add", "append", "extend", "insert", "setdefault", "update"}
_SCOPES = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: What is asked of ranks needs torch in any case, also where what is sent to them is refused first.
_OF_RANKS = "Unsendable"


def statements(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook with a cell for each statement, and for each name that is imported from a module."""
    cells = []
    for cell in notebook.cells:
        for source in split(cell.source) if cell.cell_type == "code" else ():
            part = nbformat.v4.new_code_cell(source, id=f"{cell.id[:56]}-{len(cells)}", metadata=cell.metadata)
            cells.append(part)
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)


def split(source: str) -> Iterator[str]:
    """The statements of a cell; a cell with a magic, which is no Python, stays whole."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        yield source
        return
    for node in body:
        if isinstance(node, ast.ImportFrom) and len(node.names) > 1:
            yield from (ast.unparse(ast.ImportFrom(node.module, [name], node.level)) for name in node.names)
        else:
            yield ast.get_source_segment(source, node) or ast.unparse(node)


def outside(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement outside of functions, classes and comprehensions, whose names are their own."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from outside(child)


def bound(source: str) -> set[str]:
    """The names that a statement binds for the statements after it."""
    try:
        nodes = list(outside(ast.parse(source)))
    except SyntaxError:
        return set()
    found = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    found |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found | {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}


def filled(source: str) -> set[str]:
    """The names of what a statement puts something into: ``texts[name] = ...``, ``marks.append(...)``."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return set()
    stores = [node.value for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
    methods = [node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    stores += [method.value for method in methods if method.attr in _FILLS]
    return {node.id for node in stores if isinstance(node, ast.Name)}


def read(source: str) -> set[str]:
    """The names that a statement reads."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return set()
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def judged(cells: Iterable[nbformat.NotebookNode]) -> tuple[int, str | None]:
    """How many statements ran, and the first error that has another reason than torch (or None). It is the reason, too,
    of an error where something is read that a statement would have bound, or put something into, which needs torch."""
    lost: set[str] = set()
    ran = 0
    for cell in cells:
        error = next((output for output in cell.outputs if output.output_type == "error"), None)
        if error is None or "raises-exception" in cell.metadata.get("tags", ()):
            ran += error is None
            lost -= bound(cell.source)
            continue
        name = _NAME.search(error.evalue)
        reads = read(cell.source) | ({name[1]} if name else set())
        if LACKING not in error.evalue and error.ename != _OF_RANKS and not reads & lost:
            return ran, f"{cell.id}: {error.ename}: {error.evalue}"
        lost |= bound(cell.source) | filled(cell.source)
    return ran, None

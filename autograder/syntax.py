"""Syntax trees, safe to build in several threads, and which definitions of a module need which others."""

from __future__ import annotations

import ast
import itertools
import re
import symtable
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")
_LOCK = threading.Lock()
#: A name of very many parts. Python's parser takes memory that grows with the square of their number.
LONG_NAME = re.compile(r"(?<!\w)(?:\w++[\s\\]*+\.[\s\\]*+){200}")
#: Most statements, and most names, numbers, brackets and empty texts, in one source. Their trees take 0.35 GB at most.
STATEMENTS, PIECES = 50_000, 140_000
_STATEMENT = re.compile(r"(?:^|;)[^\S\n]*[^\s#;]", re.MULTILINE)
_PIECE = re.compile(r"\w+|[\[({]|['\"]{2}|\.{3}")
#: How the messages and lines look at which an older Python stops and a newer one does not: f-strings with quotes inside
#: and type parameters (3.12), t-strings and exceptions without brackets (3.14).
NEWER = re.compile(
    r"^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[|^\s*type\s+\w+.*=|\b[rR]?[tT][rR]?[\"']|^\s*except\*?\s+\w[\w.]*\s*,"
)


def parse(source: str) -> ast.Module:
    """The syntax tree of a source.

    One thread at a time: CPython 3.11 keeps one recursion counter for all threads, and two threads that build trees at
    the same time fail with ``SystemError: AST constructor recursion depth mismatch`` (python/cpython#106905).

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as :func:`ast.parse`.
    """
    if too_much(source):
        raise SyntaxError("too many statements", ("<unknown>", 1, 1, ""))
    if match := LONG_NAME.search(source):
        line = source.count("\n", 0, match.start()) + 1
        raise SyntaxError("a name of very many parts", ("<unknown>", line, 1, ""))
    with _LOCK:
        return ast.parse(source)


def too_much(*sources: str) -> bool:
    """Whether the tree of some sources would take more memory than those of a submission need."""
    for pattern, most in ((_STATEMENT, STATEMENTS), (_PIECE, PIECES)):
        found = (1 for source in sources for _ in pattern.finditer(source))
        if len(list(itertools.islice(found, most + 1))) > most:
            return True
    return False


#: What :func:`parse` raises for text that cannot be parsed.
BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)


def newer(message: str, line: str) -> str:
    """What to add to a syntax error that a newer Python may not find; else empty.

    Args:
        message: of the error.
        line: of the source, where it was found.
    """
    if not (message.startswith("f-string") or NEWER.search(line) or ("unterminated" in message and _opens(line))):
        return ""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f" (graded with Python {version}; it may be right in a newer Python: write it for {version})"


def _opens(line: str) -> bool:
    """Whether a line begins an expression in an f-string that ends on a later line."""
    return re.search(r"\b[rR]?[fF][rR]?[\"'][^\"']*\{", line) is not None


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree of a source, or None if it cannot be parsed; warnings about the source are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return parse(source)
        except BROKEN:
            return None


# What a definition needs.


def first_line(node: ast.stmt) -> int:
    """The line in which a statement begins, with its decorators."""
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def bound(node: ast.stmt) -> frozenset[str]:
    """The names that a statement binds if it is a definition, an assignment to names or an import; else none."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return frozenset({node.name})
    if isinstance(node, ast.Import | ast.ImportFrom):
        return frozenset(map(_bound_by, node.names))
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    parts = (part for target in targets for part in ast.walk(target))  # of a tuple, each
    return frozenset(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def _bound_by(alias: ast.alias) -> str:
    return (alias.asname or alias.name).partition(".")[0]


def trimmed(node: ast.Import | ast.ImportFrom, used: Collection[str]) -> ast.Import | ast.ImportFrom:
    """An import of those of its names that are used."""
    names = [alias for alias in node.names if _bound_by(alias) in used]
    return ast.Import(names) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, names, node.level)


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for inner in table.get_children():
        yield inner
        yield from _scopes(inner)


def _outer(scope: symtable.SymbolTable) -> set[str]:
    """The names that a scope reads from outside; in ``name = name`` a class reads it there, too."""
    own = scope.get_type() == "class"
    return {name.get_name() for name in scope.get_symbols() if name.is_referenced() and (own or name.is_global())}


def symbols(node: ast.stmt) -> tuple[set[str], set[str], set[str]]:
    """The names that a simple statement or a definition binds, those that it reads, and those that scopes in it do."""
    table = symtable.symtable(ast.unparse(node), "<cell>", "exec")
    own = table.get_symbols()
    binds = {name.get_name() for name in own if name.is_assigned() or name.is_imported()}
    reads = {name.get_name() for name in own if name.is_referenced()}
    scoped = {name for scope in _scopes(table) for name in _outer(scope)}
    return binds, reads | (binds if isinstance(node, ast.AugAssign) else set()), scoped


def reads(nodes: Iterable[ast.stmt]) -> set[str]:
    """The names of their module that statements read, at once or later; the arguments of a function are none."""
    return {name for _, own, inner in map(symbols, nodes) for name in own | inner}


def reached(start: Iterable[_T], leads: Callable[[_T], Iterable[_T]]) -> set[_T]:
    """``start``, and all to which they lead, directly or not."""
    result: set[_T] = set()
    waiting = list(start)
    while waiting:
        one = waiting.pop()
        if one not in result:
            result.add(one)
            waiting += leads(one)
    return result


def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """The functions, classes and constants at the top of a module, by name; imports are none."""
    defined = (node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom))
    return {name: node for node in defined for name in bound(node)}


def needed(tree: ast.Module, names: Iterable[str], among: Callable[[str], bool] = bool) -> list[ast.stmt]:
    """The definitions of ``names`` and of what they need, directly or not, in the order of the module.

    Args:
        tree: of the module.
        names: that it defines.
        among: whether a name that they need counts; all do unless this is given.

    Raises:
        KeyError: the module does not define one of the names.
    """
    nodes = definitions(tree)
    found = reached(names, lambda name: [other for other in reads([nodes[name]]) & nodes.keys() if among(other)])
    chosen = {id(nodes[name]) for name in found}
    return [node for node in tree.body if id(node) in chosen]

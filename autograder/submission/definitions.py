"""Definitions of functions and classes: which of them are still as they were handed out."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autograder import bank, given, syntax
from autograder.items import Debug

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Definition:
    """A function or class at the top level of a file: its statements, and whether it is still as it was handed out.

    A stub does nothing, or nothing but raise, or is still the wrong program that a debug exercise asks to fix.
    """

    body: tuple[str, ...]
    stub: bool


def definitions(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, Definition]]:
    """The functions and classes that some statements define, by name."""
    for node in statements:
        if isinstance(node, _Function | ast.ClassDef):
            functions = [part for part in ast.walk(node) if isinstance(part, _Function)]
            unwritten = bool(functions) and all(map(_is_blank, functions))
            yield node.name, Definition(_statements(node), unwritten or _statements(node) == _given().get(node.name))


def is_check(node: ast.stmt) -> bool:
    """Whether a statement is ``f = check(f)``, after which the learner's own function goes on in grading."""
    match node:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(func=function, args=[ast.Name(id=own)])):
            called = getattr(function, "attr", getattr(function, "id", ""))
            return target == own and called == "check"
    return False


def _is_blank(function: _Function) -> bool:
    """Whether a function does nothing, or nothing but raise, besides the given checks of its arguments."""
    body = [part for part in _body(function) if not _is_nothing(part)]
    return not body or (len(body) == 1 and isinstance(body[0], ast.Raise))


def _is_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


@functools.cache
def given_programs() -> dict[str, str]:
    """The sources of the wrong programs that debug exercises hand out, by function name."""
    wrong = {item.function: item.wrong for item in bank.builds() if isinstance(item, Debug) and item.wrong}
    return {name: textwrap.dedent(inspect.getsource(program)) for name, program in wrong.items()}


@functools.cache
def _given() -> dict[str, tuple[str, ...]]:
    """The statements of those programs, by function name."""
    return {name: _statements(syntax.parse(source).body[0]) for name, source in given_programs().items()}


def _statements(node: ast.stmt) -> tuple[str, ...]:
    """The statements of a definition as text, without imports, which may have been moved to the top of the file."""
    return tuple(ast.dump(part) for part in _body(node) if not isinstance(part, ast.Import | ast.ImportFrom))


def _body(node: ast.stmt) -> list[ast.stmt]:
    """The statements of a definition without its docstring and the given checks."""
    assert isinstance(node, _Function | ast.ClassDef)
    documented = ast.get_docstring(node, clean=False) is not None
    return node.body[documented + len(given.given(node.body)) :]

"""Syntax trees of what was handed in, also where several threads read at once."""

from __future__ import annotations

import ast
import threading

_TURN = threading.Lock()


def parse(source: str) -> ast.Module:
    """The syntax tree of a source.

    One thread at a time: CPython 3.11 counts how deep it is in one place for all threads, and two that build trees
    together end in ``SystemError: AST constructor recursion depth mismatch`` (python/cpython#106905).

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as :func:`ast.parse`.
    """
    with _TURN:
        return ast.parse(source)

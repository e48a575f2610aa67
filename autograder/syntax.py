"""Syntax trees of submissions, safe to build in several threads."""

from __future__ import annotations

import ast
import threading
import warnings

_LOCK = threading.Lock()


def parse(source: str) -> ast.Module:
    """The syntax tree of a source.

    One thread at a time: CPython 3.11 keeps one recursion counter for all threads, and two threads that build trees at
    the same time fail with ``SystemError: AST constructor recursion depth mismatch`` (python/cpython#106905).

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as :func:`ast.parse`.
    """
    with _LOCK:
        return ast.parse(source)


#: What :func:`parse` raises for text that cannot be parsed.
BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree of a source, or None if it cannot be parsed; warnings about the source are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return parse(source)
        except BROKEN:
            return None

"""Syntax trees of submissions, safe to build in several threads."""

from __future__ import annotations

import ast
import itertools
import re
import sys
import threading
import warnings

_LOCK = threading.Lock()
#: A name of very many parts. Python's parser takes memory that grows with the square of their number.
LONG_NAME = re.compile(r"(?<!\w)(?:\w++[\s\\]*+\.[\s\\]*+){200}")
#: Most statements, and most names, numbers, brackets and empty texts, in one source. Their trees take 0.3 GB at most.
STATEMENTS, PIECES = 50_000, 120_000
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
    if found := LONG_NAME.search(source):
        line = source.count("\n", 0, found.start()) + 1
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

"""What a program has that the oldest Python of the course cannot read: the page's Python is newer than many a grader's.

Only syntax counts. Statements and parameters of types are known to Python's own parser; f-strings have been read as
ordinary code since 3.12, and before that their expressions had limits.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence

#: The oldest Python with which the course runs and is graded (``requires-python``).
OLDEST = (3, 11)
NAME = ".".join(map(str, OLDEST))


def note(source: str) -> str:
    """One sentence that names the line and the version, if the oldest Python cannot read ``source``; else empty."""
    found = _of_types(source) or _of_strings(source)
    if found is None:
        return ""
    line, what = found
    return f"Line {line} is newer than Python {NAME}, with which you may be graded: {what}. Write it for {NAME}."


def _of_types(source: str) -> tuple[int, str] | None:
    try:
        ast.parse(source, feature_version=OLDEST)
    except SyntaxError as error:
        return error.lineno or 1, re.sub(r" (is|are) only supported in.*", "", error.msg.lower())
    return None


def _of_strings(source: str) -> tuple[int, str] | None:
    """The first f-string that Python before 3.12 does not read."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):  # the parser is kinder
        return None
    for inside in _whole(tokens):
        if what := _unreadable(inside, source.splitlines(keepends=True)):
            return inside[0].start[0], what
    return None


def _kind(token: tokenize.TokenInfo) -> str:
    return tokenize.tok_name[token.type]


def _whole(tokens: Sequence[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    """The tokens of each f-string that stands in no other one. Before 3.12 an f-string is one token."""
    depth, begin = 0, 0
    for index, token in enumerate(tokens):
        if _kind(token) == "FSTRING_START":
            begin = begin if depth else index
            depth += 1
        elif _kind(token) == "FSTRING_END":
            depth -= 1
            if not depth:
                yield list(tokens[begin : index + 1])


def _unreadable(inside: Sequence[tokenize.TokenInfo], lines: Sequence[str]) -> str:
    """Why Python before 3.12 does not read an f-string; empty if it does."""
    first, last = inside[0], inside[-1]
    quote = first.string.lstrip("fFrR")
    for token in _expressions(inside):
        if _kind(token) == "COMMENT":
            return "a comment in an f-string"
        if quote in token.string:
            return "an f-string with its own quotes inside"
        if "\\" in token.string:
            return "a backslash in an expression of an f-string"
    text = "".join(lines[first.start[0] - 1 : last.end[0]])
    if len(quote) == 1 and first.start[0] != last.end[0] and not re.search(r"\\\n", text):
        return "an expression of an f-string on several lines"
    return ""


def _expressions(inside: Sequence[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """The tokens between the braces of an f-string, with the text of strings in there."""
    depth = 0
    for token in inside[1:-1]:
        kind = _kind(token)
        depth += kind == "FSTRING_START"
        if kind != "FSTRING_MIDDLE" or depth:
            yield token
        depth -= kind == "FSTRING_END"

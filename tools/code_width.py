"""Code of a page within 88 columns: :func:`fitted` rewrites code of the course, whose lines may have 120.

Statements are laid out by ruff. Docstrings are refilled, paragraph by paragraph, where a line is too long: ruff leaves
them as they are, and docformatter does so with lists of arguments.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import nbformat

WIDTH = 88
_HEAD = re.compile(r"\s*(Args|Attributes|Raises|Returns|Yields):$")
#: Under such a heading, each line with the least indentation begins an entry.
_LISTS = re.compile(r"\s*(Args|Attributes|Raises):$")
_ENTRY = re.compile(r"\s*[\w`*]+(, [\w`*]+)*: ")
_POINT = re.compile(r"\s*([-*]|\d+\.) ")
_CODE = re.compile(r"``[^`]{1,60}``")
_QUOTES = '"""'


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _alone(line: str) -> bool:
    """Whether a line is never joined with others: a heading, the closing quotes, an example or a blank line."""
    return line.strip() in ("", _QUOTES) or bool(_HEAD.match(line)) or line.lstrip().startswith((">>>", "..."))


def paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines of a docstring in groups that are filled together: an entry or a list's point is one of its own."""
    group: list[str] = []
    entries = -1  # indentation of the entries of the list of arguments that the line belongs to
    for before, line in zip(["", *lines], lines, strict=False):
        if _LISTS.match(before):
            entries = _indentation(line)
        elif line.strip() and _indentation(line) < entries:
            entries = -1
        begins = _POINT.match(line) or _indentation(line) == entries
        if group and (begins or _alone(line) or _alone(before)):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def filled(group: Sequence[str], width: int = WIDTH) -> list[str]:
    """A group of lines, refilled to ``width``; left as it is if no line is longer."""
    if all(len(line) <= width for line in group) or _alone(group[0]):
        return list(group)
    first = _indentation(group[0])
    if len(group) > 1:
        rest = _indentation(group[1])
    else:
        rest = first + (2 if _POINT.match(group[0]) else 4 if _ENTRY.match(group[0]) else 0)
    text = _CODE.sub(lambda code: code[0].replace(" ", "\0"), " ".join(line.strip() for line in group))
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=" " * first,
        subsequent_indent=" " * rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines]


def _docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            statement = node.body[0]
            assert isinstance(statement, ast.Expr)
            assert isinstance(statement.value, ast.Constant)
            yield statement.value


def _docstring(lines: Sequence[str], width: int) -> list[str]:
    found = [line for group in paragraphs(lines) for line in filled(group, width)]
    if len(found) > len(lines) == 1:  # one line was split into several: the closing quotes get a line of their own
        found[-1:] = [found[-1].removesuffix(_QUOTES), " " * _indentation(lines[0]) + _QUOTES]
    return found


def wrapped(code: str, width: int = WIDTH) -> str:
    """``code`` with its docstrings within ``width`` columns."""
    lines = code.split("\n")
    for node in sorted(_docstrings(ast.parse(code)), key=lambda node: -node.lineno):
        start, end = node.lineno - 1, node.end_lineno or node.lineno
        lines[start:end] = _docstring(lines[start:end], width)
    return "\n".join(lines)


def formatted(cells: Iterable[str], width: int = WIDTH) -> list[str]:
    """The code of each cell, laid out by ruff."""
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    command = [sys.executable, "-m", "ruff", "format", "--config", f"line-length={width}", "--stdin-filename"]
    done = subprocess.run(
        [*command, "cells.ipynb", "-"], input=nbformat.writes(page), capture_output=True, text=True, check=True
    )
    return [cell.source for cell in nbformat.reads(done.stdout, as_version=4).cells]


def fitted(cells: Sequence[str], width: int = WIDTH) -> list[str]:
    """The code of each cell within ``width`` columns."""
    return formatted([wrapped(source, width) for source in cells], width) if cells else []

"""The part of a function's card that the built page brings to life: the task as text, an editor, and a check.

A browser checks functions of plain Python and, in the first chapters, those that run as several ranks. For the others,
and where a browser has no ranks, the card says where to write them. The page's script (``book/_static/workbench.js``)
shows it in place of the stub's cell. Without scripts, or from disk, the card and the stub stay as they are.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable
from html import escape
from typing import Any

from autograder.items import Build, Debug
from autograder.learner import docstrings
from autograder.learner.card_frame import table
from rankzero.facts import chapters

#: The width of the page's column, in characters.
WIDTH = 88
#: What a browser lacks for an item that it cannot check.
NEEDS = {
    "tensor": "<p>This one needs torch, which a browser does not have. Two ways to write it:</p>",
    "world": "<p>This one runs as several processes with torch, which a browser does not have. Two ways to write it:"
    "</p>",
    "ranks": "<p>This one runs as several ranks with torch. <span>This page cannot start ranks here.</span> Two ways "
    "to write it:</p>",
}


#: What a check in the page runs, where a function needs ranks.
RANKS = (
    '<p class="rz-what">Check starts real ranks in this browser, which send each other messages. Tensors are a small '
    "stand-in for torch.</p>"
)
#: The last chapter whose worlds run in the page: later ones need more of torch than the page's small stand-in holds.
LAST_IN_RANKS = 4


def plain(item: Build) -> bool:
    """Whether an item needs neither torch nor processes, so that a browser can check it."""
    return item.grade in ("call", "calls")


def in_ranks(item: Build) -> bool:
    """Whether an item runs as several ranks that a page can start, each a Python in the browser."""
    return item.grade == "world" and chapters.of_item(item.id).number <= LAST_IN_RANKS


def written(program: Callable[..., Any]) -> str:
    """The source of the whole cell, or file, in which ``program`` was defined."""
    inner = next((one for one in vars(program).values() if hasattr(one, "__code__")), program)
    return "".join(linecache.getlines(inner.__code__.co_filename)) if hasattr(inner, "__code__") else ""


def starter(source: str) -> str:
    """A stub without its docstrings: the card says what they say."""
    lines = source.strip("\n").splitlines()
    gone: set[int] = set()  # places of lines
    for node in ast.walk(ast.parse(source.strip("\n"))):
        if isinstance(node, ast.FunctionDef):
            _fold(lines, gone, node.lineno - 1, node.body[0].lineno - 1)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            text = node.body[0]
            first, last = text.lineno - 1, text.end_lineno or text.lineno
            if len(node.body) == 1:
                lines[first] = " " * text.col_offset + "pass"
                gone.update(range(first + 1, last))
            else:
                blank = last < len(lines) and not lines[last].strip()
                gone.update(range(first, last + blank))
    return "\n".join(line for index, line in enumerate(lines) if index not in gone) + "\n"


def _fold(lines: list[str], gone: set[int], first: int, last: int) -> None:
    """Put the arguments of a function below its name where they are too long for the page's column."""
    if max(map(len, lines[first:last])) <= WIDTH:
        return
    head = re.fullmatch(
        r"( *)(def \w+\()(.*?),?(\)(?: ->[^)]*)?:)", " ".join(line.strip() for line in lines[first:last])
    )
    if head is None:
        return
    indent = " " * (len(lines[first]) - len(lines[first].lstrip()))
    inner = f"{indent}    "
    arguments = head[3].strip()
    if len(inner + arguments) > WIDTH:
        arguments = f",\n{inner}".join(_arguments(arguments)) + ","
    lines[first] = f"{indent}{head[2]}\n{inner}{arguments}\n{indent}{head[4]}"
    gone.update(range(first + 1, last))


def _arguments(text: str) -> list[str]:
    """The arguments of a function, split at the commas outside brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [argument.strip() for argument in found]


def task(item: Build, call: str, result: str) -> str:
    """The task as text, with one public case as its example; hidden until the page's script takes over.

    The page shows it in place of the stub, whose docstring says the same. A case of several ranks is too long an
    example for a sentence: the table of public cases has it.
    """
    if not (plain(item) or in_ranks(item)):
        return _elsewhere(item)
    example, others = (_example(call, result), "") if plain(item) else ("", _elsewhere(item))
    return f'<div class="rz-task" hidden>{docstrings.task(item.solution())}{example}</div>{others}'


def _example(call: str, result: str) -> str:
    """One case as a sentence, or as a table where it is several calls, each beside its own result."""
    if "<br>" not in call:
        return f'<p class="rz-example">For example, {call} gives {result}.</p>'
    lines = [*zip(call.split("<br>"), result.split("<br>"), strict=True)]
    return '<p class="rz-example">For example:</p>' + table(("call", "result"), lines)


def cell(item: Build) -> str:
    """The id of the cell in the notebook that holds the stub of an item."""
    return f"b-{item.id.partition('-')[2]}"


def _elsewhere(item: Build) -> str:
    """Where an item is written that the browser cannot check: the cell in Colab, and the file of the labs."""
    check, last = "python -m autograder grade labs", f"--only {item.id}"
    shown = f'{check} <span class="rz-together">{last}</span>'
    return (
        f'<div class="rz-elsewhere" hidden>{NEEDS["ranks" if in_ranks(item) else item.grade]}<ul>'
        f'<li><a class="rz-colab" data-cell="{cell(item)}">Open this cell in Colab</a>, write it there and run the '
        "cells from the top.</li>"
        f"<li>Write it in <code>labs/{item.file}</code> on your machine, then run <code>{shown}</code> "
        f'<button type="button" data-copy="{check} {last}">Copy</button></li></ul></div>'
    )


def bench(item: Build, stub: str) -> str:
    """The editor of an item with its buttons and a place for the result; empty if no browser can check the item."""
    if not (plain(item) or in_ranks(item)):
        return ""
    text = starter(stub)
    ranks = " data-ranks" if in_ranks(item) else ""
    verb = "Fix" if isinstance(item, Debug) else "Write"
    return (
        f'<div class="rz-bench" hidden data-work="{item.id}" data-function="{item.function}"{ranks}>'
        f'<div class="rz-editor"><textarea rows="{text.count(chr(10)) + 2}" spellcheck="false" autocapitalize="off" '
        f'autocomplete="off" aria-label="{verb} {item.function} in Python">{escape(text)}</textarea></div>'
        '<p class="rz-actions"><button type="button" class="rz-check">Check</button> '
        '<button type="button" class="rz-startover">Start over</button> '
        '<span class="rz-status" role="status"></span></p>'
        '<pre class="rz-printed" hidden tabindex="0" aria-label="What your program printed"></pre>'
        f'<div class="rz-result" aria-live="polite"></div>{RANKS if ranks else ""}</div>'
    )

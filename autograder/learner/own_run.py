"""Runs a cell of a page with the reader's own functions, in Python in the browser's worker.

Which cells can be run so, and the program of each, is settled when the book is built (``tools/own_runs.py``). Functions
that the reader has not written are those of the course, as in a notebook after ``check``. Each of the two stages, what
the cell needs and the cell itself, has a deadline. A chart that the cell ends in is shown, as in a notebook.
"""

from __future__ import annotations

import ast
import importlib
import linecache
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autograder.learner import in_page
from autograder.marking import trusted

#: The folder that holds the packages of the course.
ROOT = Path(__file__).resolve().parents[2]
EARLIER, CELL = "<earlier cells>", "<cell>"
#: Time limit of each stage, seconds: a cell may call a function many times.
TIME = 15.0
#: The stages, as they are told before they begin.
PREPARING, RUNNING = in_page.LOADING, 0


def install(files: Mapping[str, str], root: Path = ROOT) -> None:
    """Put modules that only cells need beside those that a check needs; ``files`` are their texts, by path."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if files:  # a folder's finder may be one of modules in memory, which sees no files
        for folder in [folder for folder in sys.path_importer_cache if folder.startswith(str(root))]:
            del sys.path_importer_cache[folder]
        importlib.invalidate_caches()


def run(
    cell: Mapping[str, Any],
    own: Mapping[str, str],
    others: Mapping[str, str],
    began: Callable[[int], Any],
    say: Callable[[str], Any],
    draw: Callable[[Any], Any] = lambda chart: None,
) -> str:
    """Run a cell, and tell what it prints and draws.

    Args:
        cell: ``functions``, the module of the course's version of each function that the cell calls, by name;
            ``before``, what it needs of earlier cells, as a program that prints nothing; ``code``, the cell itself.
        own: the reader's programs for some of these functions, by name.
        others: her other programs on the page, by the name of the function: hers may use them.
        began: called with -1 before what the cell needs is run, and with 0 before the cell is.
        say: called with each line that the cell prints.
        draw: called with the chart that the cell ends in, as a specification for Vega-Lite.

    Returns:
        Why the cell did not come to its end, as one sentence; empty when it did.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        began(PREPARING)
        with in_page.program(lambda line: None):
            for name, module in cell["functions"].items():
                namespace[name] = function_of(name, module, own, others)
            _execute(cell["before"], EARLIER, namespace)
        began(RUNNING)
        with in_page.program(say):
            last = _execute(cell["code"], CELL, namespace)
            if hasattr(last, "spec"):
                draw(last.spec())
    except BaseException as error:
        return _sentence(error)
    return ""


def function_of(name: str, module: str, own: Mapping[str, str], others: Mapping[str, str]) -> Any:
    """A function that a cell calls: the reader's own, or the course's."""
    if name not in own:
        return getattr(importlib.import_module(module), name)
    function = in_page.defined(name, own[name], {key: text for key, text in {**others, **own}.items() if key != name})
    if function is None:
        raise NameError(f"there is no function {name} in its editor")
    return function


def _execute(source: str, file: str, namespace: dict[str, Any]) -> Any:
    with trusted.deadline(TIME):
        return execute(source, file, namespace)


def execute(source: str, file: str, namespace: dict[str, Any]) -> Any:
    """Run a program; what its last statement comes to, if that is an expression."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    tree = ast.parse(source, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec", dont_inherit=True), namespace)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), file, "eval", dont_inherit=True), namespace)
    return None


def _sentence(error: BaseException) -> str:
    """Why a cell did not come to its end: what was raised, and where in the reader's code, or else in the cell."""
    if isinstance(error, trusted.Late):
        return f"It did not come to its end within {TIME:g} s."
    if isinstance(error, SyntaxError):
        return f"Your code, line {error.lineno}: this is not {in_page.PYTHON} ({error.msg})."
    raised = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    steps = traceback.extract_tb(error.__traceback__)
    if own := [step for step in steps if step.filename == in_page.FILE]:
        return f"Your code, line {own[-1].lineno} ({own[-1].name}): {raised}"
    if cell := [step for step in steps if step.filename in (CELL, EARLIER)]:
        return f"The cell stops at its line `{cell[-1].line}`: {raised}"
    return raised

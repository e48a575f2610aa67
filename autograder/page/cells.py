"""In the broker's worker: runs a cell of a page that runs worlds."""

from __future__ import annotations

import ast
import dataclasses
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.learner import in_page, own_run
from autograder.page import world
from autograder.page.workers import Workers
from rankzero.world import source_locations

#: Names of the programs of a cell, of the kind that a notebook gives them: "cell line 4" in every sentence.
EARLIER, CELL = "<ipython-input-earlier-{}>", "<ipython-input-cell>"
STOPPED = "It did not come to its end in time and was stopped."


def run(
    workers: Workers,
    request: Mapping[str, Any],
    began: Callable[[int], Any],
    say: Callable[..., Any],
    playing: Callable[[bool], Any] = lambda running: None,
) -> dict[str, Any]:
    """Run a cell of a page that runs worlds.

    Args:
        workers: those on which the ranks run.
        request: ``cell``, ``own`` and ``others`` as :func:`autograder.learner.own_run.run` takes them, and ``ranks``,
            the number that the reader has chosen, or None.
        began: called with -1 before what the cell needs is run, and with 0 before the cell is.
        say: called with each line that the cell prints.
        playing: called with True when ranks begin to run, and with False when they have ended.

    Returns:
        ``why`` the cell did not come to its end, in a notebook's words, empty when it did; ``charts``; and ``world``,
        what its last world did, or None.
    """
    world.CELL.begin(workers, request.get("ranks"), playing, say)
    charts: list[Any] = []
    try:
        _run(request, began, say, charts.append)
        why = ""
    except BaseException as error:
        why = words(error)
    last = world.CELL.last
    return {"why": why, "charts": charts, "world": last and dataclasses.asdict(last)}


def _run(request: Mapping[str, Any], began: Callable[[int], Any], say: Callable[..., Any], draw: Any) -> None:
    cell, own, others = request["cell"], request["own"], request["others"]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    began(own_run.PREPARING)
    with in_page.program(lambda line: None):
        for name, module in cell["functions"].items():
            namespace[name] = own_run.function_of(name, module, own, others)
        for place, text in enumerate(earlier(cell["before"], cell.get("lines", ()))):
            own_run.execute(text, EARLIER.format(place), namespace)
    began(own_run.RUNNING)
    with in_page.program(say):
        last = own_run.execute(cell["code"], CELL, namespace)
        if hasattr(last, "spec"):
            draw(last.spec())


def earlier(source: str, lines: Sequence[int]) -> list[str]:
    """Each statement of earlier cells as a program of its own, in which it begins at its line of its own cell."""
    rows = source.split("\n")
    found = []
    for place, node in enumerate(ast.parse(source).body):
        first = min(one.lineno for one in (node, *getattr(node, "decorator_list", ())))
        begins = lines[place] if place < len(lines) else first
        found.append("\n" * (begins - 1) + "\n".join(rows[first - 1 : node.end_lineno]))
    return found


def words(error: BaseException) -> str:
    """Why a cell did not come to its end, as a notebook shows it."""
    if isinstance(error, KeyboardInterrupt):
        return STOPPED
    if hasattr(error, "_render_traceback_"):
        return "\n".join(error._render_traceback_())
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: line {error.lineno}: this is not {in_page.PYTHON} ({error.msg})"
    places = [place for place in source_locations.of_traceback(error.__traceback__) if place.file.startswith("<")]
    last = "".join(traceback.format_exception_only(error))
    return source_locations.as_traceback(places, last)

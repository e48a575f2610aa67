"""What the page asks of the broker's worker: to run a cell that runs worlds, and to check an item of several ranks."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import importlib
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.page import stand_ins

stand_ins.put()

from autograder import closure  # noqa: E402 - what stands in for processes comes first
from autograder.items import Build  # noqa: E402
from autograder.learner import checking, function_cards, in_page, own_run, reports  # noqa: E402
from autograder.marking.compare import UNWRITTEN  # noqa: E402
from autograder.marking.outcome import Outcome  # noqa: E402
from autograder.marking.papers import Asked, Paper, as_announced  # noqa: E402
from autograder.page import process, world  # noqa: E402
from autograder.page.sandbox import Sandbox  # noqa: E402
from autograder.running import children  # noqa: E402
from autograder.running.limits import Limits  # noqa: E402
from autograder.running.runner import Runner  # noqa: E402
from autograder.running.slip_runner import SlipRunner  # noqa: E402
from autograder.submission import Submission, Unit  # noqa: E402
from rankzero.world import source_locations  # noqa: E402

#: Names of the programs of a cell, of the kind that a notebook gives them: "cell line 4" in every sentence.
EARLIER, CELL = "<ipython-input-earlier-{}>", "<ipython-input-cell>"
#: The reader's program as a unit of a submission.
OWN = "your code"
#: Seconds for one case, and for a worker to start: a browser is several times as slow as the grader's machine.
CASE, START = 10.0, 180.0
LIMITS = Limits(imports=CASE, packages=START, world=CASE, submission=1e9, tensors=1e9, answers=1e9)
STOPPED = "It did not come to its end in time and was stopped."


def answer(text: str, port: Any, began: Callable[[int], Any], say: Callable[..., Any], playing: Any) -> str:
    """Answer one request of the page's script, JSON in and JSON out."""
    request = json.loads(text)
    if process.HALL.port is None:
        process.use(port)
    if "cell" in request:
        return json.dumps(run(request, began, say, playing))
    return json.dumps(check(request["id"], request["source"], request["others"], began, say))


def ready() -> None:
    """Called before a picture of Python's memory is taken: read and import what every check needs later."""
    children.offered()
    for name in ("groups", "rules", "vectors"):
        importlib.import_module(f"autograder.bank.{name}")


# Cells.


def run(
    request: Mapping[str, Any],
    began: Callable[[int], Any],
    say: Callable[..., Any],
    playing: Callable[[bool], Any] = lambda running: None,
) -> dict[str, Any]:
    """Run a cell of a page that runs worlds.

    Args:
        request: ``cell``, ``own`` and ``others`` as :func:`autograder.learner.own_run.run` takes them, and ``ranks``,
            the number that the reader has chosen, or None.
        began: called with -1 before what the cell needs is run, and with 0 before the cell is.
        say: called with each line that the cell prints.
        playing: called with True when ranks begin to run, and with False when they have ended.

    Returns:
        ``why`` the cell did not come to its end, in a notebook's words, empty when it did; ``charts``; and ``world``,
        what its last world did, or None.
    """
    world.STAGE.clear(request.get("ranks"), playing, say)
    charts: list[Any] = []
    try:
        _run(request, began, say, charts.append)
        why = ""
    except BaseException as error:
        why = words(error)
    last = world.STAGE.last
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


# Checks.


class _Papers:
    """The public papers of items of several ranks, answered by the reference on the ranks of the page."""

    def __init__(self) -> None:
        self._slips: dict[str, SlipRunner] = {}

    def of(self, item: Build) -> Paper:
        """The public cases with the reference's answers; the card finds them where a notebook's are."""
        kept = reports._public_papers()
        if item.id not in kept:
            slips = self._slips[item.id] = SlipRunner([item])
            expected = self._answered(item)
            asked = tuple(Asked(case, None, right) for case, right in zip(item.cases, expected, strict=True))
            kept[item.id] = Paper(item, asked, (), run_slip=slips.run, moved=lambda: [()] * len(asked))
        return kept[item.id]

    @staticmethod
    def _answered(item: Build) -> list[Outcome]:
        with Runner(reference(item), Sandbox(), LIMITS, [item]) as runner:  # type: ignore[arg-type]
            return as_announced(item, item.cases, runner.run(item, item.cases))


PAPERS = _Papers()


def reference(item: Build) -> Submission:
    """The reference of an item and what it imports, as a folder of modules that somebody handed in."""
    files = closure.modules([f"solutions.{item.home}"]).items()
    units = [
        Unit(file.name, file.read_text(encoding="utf-8"), file.stem)
        for name, file in files
        if name.startswith("solutions.") and file.name != "__init__.py"
    ]
    return Submission("reference", tuple(units))


def submitted(item: Build, source: str, others: Mapping[str, str]) -> Submission:
    """The reader's program, behind the other functions of the page that it uses."""
    units = [Unit(name, others[name]) for name in _used(source, item.function, others)]
    return Submission(OWN, (*units, Unit(OWN, source)))


def _used(source: str, own: str, others: Mapping[str, str]) -> list[str]:
    """The names of the other functions that a program uses, those that others use first."""
    found: list[str] = []

    def look(text: str) -> None:
        with contextlib.suppress(SyntaxError):
            names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
            for name in sorted(names & others.keys() - {own, *found}):
                found.append(name)
                look(others[name])

    look(source)
    return found[::-1]


def check(
    identifier: str, source: str, others: Mapping[str, str], began: Callable[[int], Any], say: Callable[..., Any]
) -> dict[str, Any]:
    """Judge the program of an item of several ranks by its public cases, as the notebook's ``check`` does.

    Returns:
        What :func:`autograder.learner.in_page.check` returns.
    """
    item = in_page.built(identifier)
    if sentence := _cannot(item, source):
        return in_page.unjudged(item, "broken", sentence)
    began(in_page.LOADING)
    paper = PAPERS.of(item)
    with Runner(submitted(item, source, others), Sandbox(), LIMITS, [item]) as runner:  # type: ignore[arg-type]
        outcomes = _outcomes(runner, item, began)
        problems = runner.problems
    for line in checking.printed(outcomes):
        say(line)
    if outcomes[0].kind in ("missing", "unloadable"):
        return in_page.unjudged(item, "broken", _absent(item, problems, outcomes[0]))
    if checking.unwritten(outcomes):
        return in_page.unjudged(item, "unwritten", f"{item.function} is {UNWRITTEN}.")
    began(in_page.JUDGING)
    assert paper is reports.public_paper(item)
    report = checking.judged(item, outcomes)
    state = "right" if report.passed == report.total else "wrong"
    notes = [f"{_plain(problem)}. {in_page.AFTER}" for problem in problems if problem.startswith(f"{OWN}: ")]
    html = function_cards.results(report) + in_page.noted(source, notes)
    return {"state": state, "html": html, **in_page.count(item, report.passed)}


def _cannot(item: Build, source: str) -> str:
    """Why a program is not run at all; empty if it can be."""
    places = process.HALL.port.places if process.HALL.port else 0
    if (most := max(len(case.args) for case in item.cases)) > places:
        what = f"This device starts {places} ranks, and a case of this exercise needs {most}"
        return f"{what}: write it in Colab or on your machine."
    try:
        ast.parse(source)
    except SyntaxError as error:
        return in_page.not_python(error)
    return ""


def _plain(problem: str) -> str:
    """A problem of the grader's, as that of the reader's own code."""
    return problem.removeprefix(f"{OWN}: ").removesuffix(": ")


def _absent(item: Build, problems: tuple[str, ...], outcome: Outcome) -> str:
    if problems:
        return f"{_plain(problems[0])}."
    if outcome.kind == "missing":
        return f"There is no function {item.function} here: its name and its arguments stay."
    return f"Your code did not come to its end before the first case: {outcome.detail}."


def _outcomes(runner: Runner, item: Build, began: Callable[[int], Any]) -> list[Outcome]:
    """The outcomes of the public cases, with what each rank printed."""
    outcomes: list[Outcome] = []
    for place, case in enumerate(item.cases):
        began(place)
        (outcome,) = runner.run(item, [case])
        children = list(runner.children.processes.values())[: len(case.args)]
        printed = tuple(child.lines for child in children)  # type: ignore[attr-defined]
        outcomes.append(dataclasses.replace(outcome, printed=printed))
        if outcome.kind in ("missing", "unloadable"):
            return outcomes
        tried = outcome.kind != "deadlock" and (place == 0 or outcome.kind == "timeout")  # a deadlock is told at once
        if tried and (rest := checking.given_up(item, outcomes[-1:])):
            return outcomes[:-1] + rest[: len(item.cases) - place]
    return outcomes

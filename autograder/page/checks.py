"""In the broker's worker: checks an item of several ranks, with the grader's own runner on the ranks of the page."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from autograder import closure
from autograder.items import Build
from autograder.learner import checking, function_cards, in_page, reports
from autograder.marking.compare import UNWRITTEN
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Asked, Paper, as_announced
from autograder.page.workers import Worker, Workers
from autograder.running.limits import Limits
from autograder.running.runner import Runner
from autograder.running.slip_runner import SlipRunner
from autograder.submission import Submission, Unit

#: The reader's program as a unit of a submission.
OWN = "your code"
#: Seconds for one case, and for a worker to start: a browser is several times as slow as the grader's machine.
CASE, START = 10.0, 180.0
LIMITS = Limits(imports=CASE, packages=START, world=CASE, submission=1e9, tensors=1e9, answers=1e9)


def paper_of(item: Build, workers: Workers) -> Paper:
    """The public cases with the reference's answers; the card finds them where a notebook's are."""
    kept = reports._public_papers()
    if item.id not in kept:
        slips = SlipRunner([item], lambda: workers)
        expected = _answered(item, workers)
        asked = tuple(Asked(case, None, right) for case, right in zip(item.cases, expected, strict=True))
        kept[item.id] = Paper(item, asked, (), run_slip=slips.run, moved=lambda: [()] * len(asked))
    return kept[item.id]


def _answered(item: Build, workers: Workers) -> list[Outcome]:
    with Runner(reference(item), workers, LIMITS, [item]) as runner:
        return as_announced(item, item.cases, runner.run(item, item.cases))


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
    workers: Workers,
    identifier: str,
    source: str,
    others: Mapping[str, str],
    began: Callable[[int], Any],
    say: Callable[..., Any],
) -> dict[str, Any]:
    """Judge the program of an item of several ranks by its public cases, as the notebook's ``check`` does.

    Returns:
        What :func:`autograder.learner.in_page.check` returns.
    """
    item = in_page.built(identifier)
    if sentence := _cannot(workers, item, source):
        return in_page.unjudged(item, "broken", sentence)
    began(in_page.LOADING)
    paper = paper_of(item, workers)
    with Runner(submitted(item, source, others), workers, LIMITS, [item]) as runner:
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


def _cannot(workers: Workers, item: Build, source: str) -> str:
    """Why a program is not run at all; empty if it can be."""
    if (most := max(len(case.args) for case in item.cases)) > workers.places:
        what = f"This device starts {workers.places} ranks, and a case of this exercise needs {most}"
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
        children = list(runner.children.started.values())[: len(case.args)]
        printed = tuple(child.lines for child in children if isinstance(child, Worker))
        outcomes.append(dataclasses.replace(outcome, printed=printed))
        if outcome.kind in ("missing", "unloadable"):
            return outcomes
        tried = outcome.kind != "deadlock" and (place == 0 or outcome.kind == "timeout")  # a deadlock is told at once
        if tried and (rest := checking.given_up(item, outcomes[-1:])):
            return outcomes[:-1] + rest[: len(item.cases) - place]
    return outcomes

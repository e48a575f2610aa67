"""Every item with one key: the reference earns all points, the untouched lab none, each slip is named.

The references of a few items are handed in to the sandbox; ``make proof`` hands in all, and the untouched labs.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import pytest

from autograder import bank
from autograder.given import given
from autograder.items import Build, Case, Debug, Slip
from autograder.maintenance import verifying
from autograder.marking import feedback, judge, probing, stochastic, trusted
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper, moved_together
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox

ITEMS = bank.builds()
#: Of each grade one, on few ranks: each is a process that imports torch.
FEW = [bank.find(name) for name in ("01-process-groups", "05-loss-scaler", "06-merge-partials", "05-reduce-to-slice")]
EXAMS = [pytest.param(FEW, id="few"), pytest.param(ITEMS, id="all", marks=pytest.mark.proof(part="systems"))]
BANK = pytest.mark.proof(part="bank")
UNWRITTEN, REFUSED = (Outcome("raised", error=name) for name in ("NotImplementedError", "ValueError"))
pytestmark = pytest.mark.xdist_group("full marks")  # one set of processes for all of them
every_item = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)


@pytest.fixture(scope="module")
def exam() -> Iterator[Exam]:
    with Exam(ITEMS, b"full marks") as exam:
        yield exam


@pytest.fixture(scope="module")
def papers(request, exam) -> Mapping[str, Paper]:
    """Of the items of chosen tests. Their references are rounded once at random, of those that run in worlds a few;
    ``make proof`` rounds each in every way."""
    tests = [test for test in request.session.items if test.path == request.path and "item" in test.callspec.params]
    items = {test.callspec.params["item"].id: test.callspec.params["item"] for test in tests}
    worlds = [item for item in items.values() if item.grade in ("tensor", "world")]
    exam.prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stochastic, "RUNS", stochastic.RUNS[-1:])
        moved = moved_together([exam.paper(item) for item in worlds if item in FEW])
        found = {name: exam.paper(item) for name, item in items.items()}
        found |= {item.id: unmoved(exam.paper(item)) for item in worlds} | {paper.item.id: paper for paper in moved}
        assert all(paper.movements for paper in found.values())
    return found


def unmoved(paper: Paper) -> Paper:
    """The paper, with a reference that no rounding moves."""
    return replace(paper, moved=lambda: [()] * len(paper.once))


# In the sandbox.


@pytest.mark.parametrize("items", EXAMS)
def test_the_solutions_earn_every_point(items):
    with Exam(items, b"full marks") as exam:
        grading = judging.judge(verifying.submission("solutions", items), exam, Sandbox.measure("best"))
    assert [verifying.shortfalls(grading, place) for place in range(len(items))] == [[]] * len(items)
    assert [(mark.item.id, mark.public + mark.hidden) for mark in grading.marks if mark.state != "right"] == []
    assert grading.reason == ""
    assert sum(mark.score for mark in grading.marks if not mark.item.bonus) == grading.points


@pytest.mark.parametrize("items", EXAMS[1:])
def test_the_untouched_labs_earn_nothing(items):
    with Exam(items, b"full marks") as exam:
        grading = judging.judge(verifying.submission("labs", items), exam, Sandbox.measure("best"))
    assert [verifying.gains(grading, place) for place in range(len(items))] == [[]] * len(items)
    assert [(mark.item.id, mark.score) for mark in grading.marks if mark.score] == []
    assert {mark.state for mark in grading.marks} <= {"unwritten", "wrong"}


# In the judge.


@every_item
def test_the_answers_of_the_reference_earn_every_point(papers, item):
    """Kills: an item whose public cases, or whose ordinary ones, are too few to be worth anything."""
    paper = papers[item.id]
    mark = judge.mark(paper, [asked.expected for asked in paper.asked], ITEMS)
    assert (mark.state, mark.score) == ("right", item.points)


@every_item
def test_a_stub_can_earn_nothing(papers, item):
    """It refuses what it has to, at most, and raises in every other call; a program to mend is one of its slips."""
    paper = papers[item.id]
    if isinstance(item, Debug):
        assert any(item.source_of(slip) == item.source_of(Slip("", item.wrong)) for slip in paper.slips)
        return
    if item.grade in ("call", "calls"):
        stub = getattr(importlib.import_module(f"labs.{item.home}"), item.function)
        outcomes = trusted.run(item, stub, paper.cases)
    else:
        assert all(ends(function) for function in functions(item))
        outcomes = [asked.expected if asked.expected.kind == "raised" else UNWRITTEN for asked in paper.asked]
    mark = judge.mark(paper, outcomes, ITEMS)
    assert mark.score == 0
    assert mark.state in ("unwritten", "wrong")


def functions(item: Build) -> list[ast.FunctionDef]:
    """The function of an exercise in ``labs``, or the methods of its class."""
    tree = ast.parse((verifying.room("labs") / item.file).read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if getattr(node, "name", "") == item.function)
    return [node for node in ast.walk(found) if isinstance(node, ast.FunctionDef)]


def ends(function: ast.FunctionDef) -> bool:
    """Whether a stub computes nothing: words, the checks of its arguments, and the error."""
    rest = function.body[len(given(function.body)) + (ast.get_docstring(function) is not None) :]
    return len(rest) == 1 and isinstance(rest[0], ast.Raise)


@every_item
def test_every_slip_loses_and_is_named(papers, item):
    """Kills: a bank whose cases a wrong program passes, and a diagnosis that names another mistake.

    A slip that is named in the first cases is named in all: each further case only tells it from more of the others.
    """
    paper = papers[item.id]
    assert paper.slips
    for slip in paper.slips:
        for part in beginnings(paper, 2, 4, 8):
            if not (faults := verifying.wrong_program(part, slip, ITEMS)):
                break
        assert faults == []
        assert item.source_of(slip)


def beginnings(paper: Paper, *counts: int) -> Iterator[Paper]:
    """The paper with its first cases alone, then with all; those come first that need not be refused, on many ranks."""

    def rank(place: int) -> tuple[bool, int]:
        return feedback.refuses(paper, place), -len(paper.asked[place].case.args)

    places = sorted(paper.once, key=rank) if paper.item.grade == "world" else paper.once
    asked, moved = ([of[place] for place in places] for of in (paper.asked, paper.movements))
    outcomes: dict[tuple[Slip, int], Outcome] = {}
    for count in (*counts, len(places)):
        some = partial(list, moved[:count])
        yield replace(paper, asked=tuple(asked[:count]), again=(), moved=some, slip_outcomes=outcomes)


@BANK
@every_item
def test_every_slip_is_named_in_the_whole_paper(exam, item):
    assert verifying.slips(exam, item, exam.items) == []


# Tables of the public answers.

PLAIN = [None, True, False, 0, 1, 0.0, "", [], (), {}]


def raw(item: Build, case: Case) -> Outcome:
    """What the driver of a plain item hands back of the reference, before anything is concluded."""
    driven = probing.driven(item, item.solution())
    return probing.joined(item, [trusted.attempt(driven, one) for one in probing.for_processes(item, case)])


def guesses(item: Build, paper: Paper) -> list[Outcome]:
    """What a program without an idea may answer to every other input: nothing, something plain, or a public answer."""
    public = [asked for asked in paper.asked if asked.group is None]
    if item.grade == "calls":
        lengths = {len(asked.case.calls) for asked in paper.asked}
        plain = [Outcome("value", [value] * length) for value in PLAIN for length in lengths]
    elif item.grade == "world":
        sizes = {len(asked.case.args) for asked in paper.asked}
        plain = [Outcome("value", (value,) * size) for value in PLAIN for size in sizes]
    else:
        plain = [Outcome("value", value) for value in PLAIN]
    if item.concludes is None:
        plain += [asked.expected for asked in public]
    elif item.grade == "call":
        plain += [raw(item, asked.case) for asked in public]
    return [UNWRITTEN, REFUSED, *plain]


def fits(item: Build, guess: Outcome, case: Case) -> bool:
    """Whether the guess can be an outcome of the case at all: one value for each rank."""
    return item.grade != "world" or guess.kind != "value" or len(guess.value) == len(case.args)


@pytest.mark.parametrize(
    "item",
    [pytest.param(one, id=one.id, marks=[] if one.grade == "call" else BANK) for one in ITEMS],
)
def test_a_table_of_the_public_answers_earns_nothing(papers, item):
    """Kills: public points for a program that knows the page by heart and guesses everything else."""
    paper = papers[item.id]
    known = [(asked.case, asked.expected) for asked in paper.asked if asked.group is None]
    for guess in guesses(item, paper):
        outcomes = []
        for asked in paper.asked:
            told = guess if fits(item, guess, asked.case) else UNWRITTEN
            mine = probing.with_conclusion(item, asked.case, told)
            outcomes.append(next((right for case, right in known if case == asked.case), mine))
        assert judge.mark(paper, outcomes).score == 0, guess

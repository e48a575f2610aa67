"""Everything at once, world items too: the reference earns all points, the untouched labs none, each slip is named."""

from __future__ import annotations

import pytest

from autograder import bank, conclusions
from autograder.items import Build, Case
from autograder.maintenance import verifying
from autograder.marking import judge, probing, trusted
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox

ITEMS = bank.builds()
pytestmark = pytest.mark.xdist_group("full marks")  # one set of processes for all of them


@pytest.fixture(scope="module")
def exam():
    with Exam(ITEMS, b"full marks") as exam:
        yield exam


def test_the_solutions_earn_every_point(exam):
    grading = judging.judge(verifying.submission("solutions"), exam, Sandbox.measure("best"))
    assert [verifying.shortfalls(grading, place) for place in range(len(ITEMS))] == [[]] * len(ITEMS)
    assert [(mark.item.id, mark.public + mark.hidden) for mark in grading.marks if mark.state != "right"] == []
    assert grading.reason == ""
    assert sum(mark.score for mark in grading.marks if not mark.item.bonus) == grading.points


def test_the_untouched_labs_earn_nothing(exam):
    grading = judging.judge(verifying.submission("labs"), exam, Sandbox.measure("best"))
    assert [verifying.gains(grading, place) for place in range(len(ITEMS))] == [[]] * len(ITEMS)
    assert [(mark.item.id, mark.score) for mark in grading.marks if mark.score] == []
    assert {mark.state for mark in grading.marks} <= {"unwritten", "wrong"}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_every_slip_fails_and_is_named(exam, item):
    """Kills: a bank whose cases a wrong program passes, and a diagnosis that names another mistake."""
    assert verifying.slips(exam, item, exam.items) == []
    assert all(item.source_of(slip) for slip in exam.paper(item).slips)


# Tables of the public answers.

UNWRITTEN, REFUSED = (Outcome("raised", error=name) for name in ("NotImplementedError", "ValueError"))
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
    if item.probe not in conclusions.BY_DRIVER:
        plain += [asked.expected for asked in public]
    elif item.grade == "call":
        plain += [raw(item, asked.case) for asked in public]
    return [UNWRITTEN, REFUSED, *plain]


def fits(item: Build, guess: Outcome, case: Case) -> bool:
    """Whether the guess can be an outcome of the case at all: one value for each rank."""
    return item.grade != "world" or guess.kind != "value" or len(guess.value) == len(case.args)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_a_table_of_the_public_answers_earns_nothing(exam, item):
    """Kills: public points for a program that knows the page by heart and guesses everything else."""
    paper = exam.paper(item)
    known = [(asked.case, asked.expected) for asked in paper.asked if asked.group is None]
    for guess in guesses(item, paper):
        outcomes = []
        for asked in paper.asked:
            told = guess if fits(item, guess, asked.case) else UNWRITTEN
            mine = probing.with_conclusion(item, asked.case, told)
            outcomes.append(next((right for case, right in known if case == asked.case), mine))
        assert judge.mark(paper, outcomes).score == 0, guess

"""Everything at once, world items too: the reference earns all points, the untouched labs none, each slip is named."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from autograder import bank, judge
from autograder.exam import Exam
from autograder.sandbox import Sandbox
from autograder.submission import load

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("full marks")  # one set of processes for all of them


@pytest.fixture(scope="module")
def exam():
    with Exam(bank.builds(), b"full marks") as exam:
        yield exam


def test_the_solutions_earn_every_point(exam):
    grading = judge.judge(load(ROOT / "solutions"), exam, Sandbox.measure("best"))
    assert [(mark.item.id, mark.public + mark.hidden) for mark in grading.marks if mark.state != "right"] == []
    assert grading.reason == ""
    assert sum(mark.score for mark in grading.marks if not mark.item.bonus) == grading.points


def test_the_untouched_labs_earn_nothing(exam):
    grading = judge.judge(load(ROOT / "labs"), exam, Sandbox.measure("best"))
    assert [(mark.item.id, mark.score) for mark in grading.marks if mark.score] == []
    assert {mark.state for mark in grading.marks} <= {"unwritten", "wrong"}


@pytest.mark.parametrize("item", bank.builds(), ids=lambda item: item.id)
def test_every_slip_fails_and_is_named(exam, item):
    """Kills: a bank whose cases a wrong program passes, and a diagnosis that names another mistake."""
    paper = exam.paper(item)
    assert paper.slips
    for slip in paper.slips:
        outcomes = [paper.slip_outcome(slip, place) for place in range(len(paper.asked))]
        mark = judge.mark(paper, outcomes, exam.items)
        assert mark.state != "right"
        assert mark.score < item.points
        assert mark.hidden[0] == slip.sentence
        assert inspect.getsource(slip.program)

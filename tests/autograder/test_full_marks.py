"""Everything at once, world items too: the reference earns all points, the untouched labs none, each slip is named."""

from __future__ import annotations

import inspect

import pytest

from autograder import bank, judge, verifying
from autograder.exam import Exam
from autograder.sandbox import Sandbox

ITEMS = bank.builds()
pytestmark = pytest.mark.xdist_group("full marks")  # one set of processes for all of them


@pytest.fixture(scope="module")
def exam():
    with Exam(ITEMS, b"full marks") as exam:
        yield exam


def test_the_solutions_earn_every_point(exam):
    grading = judge.judge(verifying.submission("solutions"), exam, Sandbox.measure("best"))
    assert [verifying.shortfalls(grading, place) for place in range(len(ITEMS))] == [[]] * len(ITEMS)
    assert [(mark.item.id, mark.public + mark.hidden) for mark in grading.marks if mark.state != "right"] == []
    assert grading.reason == ""
    assert sum(mark.score for mark in grading.marks if not mark.item.bonus) == grading.points


def test_the_untouched_labs_earn_nothing(exam):
    grading = judge.judge(verifying.submission("labs"), exam, Sandbox.measure("best"))
    assert [verifying.gains(grading, place) for place in range(len(ITEMS))] == [[]] * len(ITEMS)
    assert [(mark.item.id, mark.score) for mark in grading.marks if mark.score] == []
    assert {mark.state for mark in grading.marks} <= {"unwritten", "wrong"}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_every_slip_fails_and_is_named(exam, item):
    """Kills: a bank whose cases a wrong program passes, and a diagnosis that names another mistake."""
    assert verifying.slips(exam, item, exam.items) == []
    assert all(inspect.getsource(slip.program) for slip in exam.paper(item).slips)

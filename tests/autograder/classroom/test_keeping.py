"""``regrade --only``: what is not marked again stays as it was."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from autograder import bank
from autograder.classroom import classes
from autograder.classroom.storage import Graded
from autograder.marking.marks import Answered, Grading, Mark

ONE, OTHER = bank.find("05-zero-memory"), bank.find("05-loss-scaler")
QUESTION = bank.find("03-steps")
OLD = Grading("a.py", "ab", (Mark(ONE, "wrong", ()), Mark(OTHER, "wrong", ())), (Answered(QUESTION, "wrong", ("no",)),))
NEW = Grading("a.py", "ab", (Mark(ONE, "right", ()), Mark(OTHER, "right", ())), (Answered(QUESTION, "right", ()),))
HANDED = SimpleNamespace(id="ada", name="a.py")


def again(monkeypatch, old: Grading, new: Grading, *items: str) -> Grading:
    """The grading after some items were marked again."""
    monkeypatch.setattr(classes.Marker, "graded", lambda self, handed, answers: Graded(handed, new))
    keeper = classes.Keeper(
        SimpleNamespace(key=b"key"), SimpleNamespace(questions=()), {"ada": Graded(HANDED, old)}, items, ()
    )
    return keeper.graded(HANDED, {}).grading


def test_other_items_and_all_questions_stay(monkeypatch):
    found = again(monkeypatch, OLD, NEW, ONE.id)
    assert [mark.state for mark in found.marks] == ["right", "wrong"]
    assert found.questions == OLD.questions


def test_what_cannot_be_judged_here_costs_nobody_the_old_marks(monkeypatch):
    """Kills: "Not judged" on every page, since another item needs torch."""
    new = replace(NEW, reason=f"{OTHER.id} cannot be judged here: no torch")
    assert again(monkeypatch, OLD, new, ONE.id).reason == ""
    assert again(monkeypatch, OLD, new, OTHER.id).reason == new.reason
    assert again(monkeypatch, new, NEW, OTHER.id).reason == ""  # marked again where it can be judged
    assert again(monkeypatch, new, NEW, ONE.id).reason == new.reason


def test_a_row_without_marks_is_marked_anew(monkeypatch):
    """Kills: a KeyError for a learner on whom the grader failed before."""
    assert again(monkeypatch, replace(OLD, marks=(), reason="the grader failed"), NEW, ONE.id) == NEW


@pytest.mark.parametrize(("items", "learners"), [((OTHER.id,), ()), ((ONE.id,), ("ada",)), ((), ("ada",))])
def test_marks_that_are_taken_over_keep_their_points(items, learners):
    old = SimpleNamespace(stamps={"points": {ONE.id: 4, OTHER.id: OTHER.points}})
    exam = SimpleNamespace(items=[replace(ONE, points=10), OTHER])
    with pytest.raises(classes.OtherPoints, match="was worth 4 points and is now worth 10"):
        classes._refuse_points(old, exam, items, learners)
    classes._refuse_points(old, exam, (ONE.id,), ())

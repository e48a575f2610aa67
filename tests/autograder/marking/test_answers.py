"""Answers are kept whole: a grading made of what was kept is the grading that was made at first."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from autograder import bank
from autograder.child.wire import MAX_KEYS
from autograder.marking.answers import Answers, OtherVectors
from autograder.marking.outcome import Outcome
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit
from tests.autograder.toy_bank import KEY, LIMITS, RIGHT, SCALE, SPREAD, TALLY

SOURCES = {
    "right": "def scale(value, factor):\n    return value * factor\n",
    "wrong": "def scale(value, factor):\n    return value + factor\n",
    "raises": "def scale(value, factor):\n    raise OSError('no')\n",
    "odd": "def scale(value, factor):\n    return (1, 'two', {'three': [4.0, float('nan')]}, None)\n",
    "not plain": "def scale(value, factor):\n    return {value}\n",
    "ends": "def scale(value, factor):\n    import os\n    os._exit(3)\n",
    "changes": "def spread(values):\n    values.sort()\n    return values\n",
    "missing": "def other():\n    pass\n",
    "broken": "def scale(value, factor:\n",
}


@pytest.fixture(scope="module")
def exam():
    with Exam([SCALE, SPREAD, TALLY], KEY) as made:
        yield made


def asked(source: str, exam: Exam) -> Answers:
    submission = Submission("handed in", (Unit("a.py", source),), sha256="ab", answers={"03-q": (1.5, "ring", [2])})
    return judging.ask(submission, exam, Sandbox.measure("none"), LIMITS)


def kept(answers: Answers) -> Answers:
    """What a file gives back."""
    return Answers.from_json(json.loads(json.dumps(answers.to_json(), allow_nan=False)))


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_what_was_kept_gives_the_same_grading(source, exam):
    answers = asked(source, exam)
    assert repr(kept(answers)) == repr(answers)  # as text: NaN is not equal to itself
    assert judging.grade(kept(answers), exam) == judging.grade(answers, exam)


def test_a_world_is_kept_with_its_events():
    whole, unit = bank.find("03-ring-all-reduce"), Unit("a.py", WORLD)
    item = replace(whole, cases=tuple(replace(case, args=case.args[:2]) for case in whole.cases[:1]), groups=())
    with Exam([item], KEY) as exam:
        answers = judging.ask(Submission("world", (unit,)), exam, Sandbox.measure("none"))
        assert any(outcome.events for outcome in answers.outcomes[item.id])
        assert kept(answers) == answers


def test_answers_to_other_cases_are_not_graded(exam):
    """Kills a grading that holds answers against the inputs of another key."""
    answers = asked(SOURCES["right"], exam)
    with Exam([SCALE, SPREAD, TALLY], b"another key") as other, pytest.raises(OtherVectors, match="grade it again"):
        judging.grade(answers, other)


def test_a_change_of_points_needs_no_code(exam):
    answers = asked(RIGHT, exam)
    dear = replace(SCALE, points=10.0)
    with Exam([dear], KEY) as other:
        grading = judging.grade(answers, other)
    assert (grading.score, grading.points) == (10.0, 10.0)


def test_what_could_not_be_graded_stays_so(exam):
    assert judging.grade(Answers("a.py", "ab", reason="it is empty"), exam).reason == "it is empty"


WORLD = """
import torch.distributed as dist

def ring_all_reduce(tensor):
    dist.all_reduce(tensor)
    return tensor
"""


def test_the_ranks_of_a_world_do_not_share_a_limit(exam):
    """Kills: one budget for the values of all ranks, which one rank's flood would use up for the others."""
    each = {number: number for number in range(MAX_KEYS - 1)}
    answers = Answers("world", outcomes={"03-x": (Outcome("value", [each, each, each], arguments=((each,), None)),)})
    assert kept(answers) == answers


@pytest.mark.parametrize("value", [[1.5, None, True, 2], (1, 2.5), [[1.0], {"a": (1,)}], "text", [], ()])
def test_every_shape_of_a_value_comes_back(value):
    answers = Answers("a", outcomes={"03-x": (Outcome("value", value, arguments=(value,)),)})
    assert repr(kept(answers)) == repr(answers)


def test_what_is_empty_is_not_kept():
    """A class has hundreds of thousands of outcomes."""
    assert Answers("a", outcomes={"03-x": (Outcome("missing"),)}).to_json()["outcomes"] == {
        "03-x": [{"kind": "missing"}]
    }

"""A wrong number that looks like the right one is shown in the digits that differ, where the right one may be shown."""

from __future__ import annotations

import math

import pytest

from autograder import bank
from autograder.items import Array, Build, Case, Tensor
from autograder.learner import checking
from autograder.learner.reports import public_paper
from autograder.marking import compare, wording
from autograder.marking.outcome import Outcome
from autograder.marking.sentences import PublicResult, public_sentences

THIRD, NEAR = 0.3333333432674408, 0.3333333730697632  # two neighbors in float32
TENSORS = Tensor.of([0.5, THIRD]), Tensor.of([0.5, NEAR])


def item(**changes):
    return Build(**{
        "header": "91 m.f", "cases": (Case((1,)),), "groups": (),
        "slips": (), "section": "1.1", "topic": "t", "tolerance": 1e-9, **changes,
    })  # fmt: skip


def said(right, given, tell=True):
    return compare.matches(Outcome("value", right), Outcome("value", given), 1e-9, tell)


@pytest.mark.parametrize(
    ("right", "given", "words"),
    [
        (THIRD, NEAR, "the value is 8.9e-06 % too large: 0.333333373 where 0.333333343 is expected"),
        (*TENSORS, "element 1 is 8.9e-06 % too large: 0.333333373 where 0.333333343 is expected"),
        ([1e9, 2.0], [1e9 + 2, 2.0], "element 0 is 2e-07 % too large: 1000000002 where 1e9 is expected"),
        (1.0, 1 + 1e-8, "1.00000001 where 1 is expected"),
        (-THIRD, -NEAR, "too far below 0: -0.333333373 where -0.333333343 is expected"),
        ({"a": 1.0}, {"a": 1 - 2e-9}, "the entry 'a' is 2e-07 % too small: 0.999999998 where 1 is expected"),
        ((1.0,), (1 + 2e-9,), "1.000000002 where 1 is expected"),
    ],
)
def test_the_digits_that_differ_are_told(right, given, words):
    assert words in said(right, given)


@pytest.mark.parametrize(("right", "given"), [(1.0, 1.1), (0.0, 1e-3), (1.0, math.nan), (1.0, math.inf), (5, 6)])
def test_where_the_digits_differ_already_nothing_is_added(right, given):
    assert "expected" not in said(right, given)


@pytest.mark.parametrize("pair", [(THIRD, NEAR), TENSORS, ({"a": 1.0}, {"a": 1 - 2e-9})])
def test_where_nothing_expected_may_be_shown_nothing_is(pair):
    """Kills a right value in a sentence about a hidden case."""
    assert said(*pair, tell=False).endswith("is wrong")


@pytest.mark.parametrize(
    ("right", "given", "text"),
    [
        (*TENSORS, "tensor([0.5, 0.333333373])"),
        (Array.of([THIRD], "float64"), Array.of([NEAR], "float64"), "array([0.333333373], float64)"),
        ([0.1, 1.0], [0.1, 1 + 1e-11], "[0.1, 1.00000000001]"),
        (2.0, 2.5, "2.5"),
    ],
)
def test_an_answer_beside_the_right_one_has_digits_enough(right, given, text):
    assert wording.beside(item(), Outcome("value", given), Outcome("value", right)) == text


def test_the_answers_of_ranks_and_of_an_object_too():
    world, calls = item(grade="world"), item(grade="calls")
    right, given = Outcome("value", [1.0, THIRD]), Outcome("value", [1.0, NEAR])
    assert wording.beside(world, given, right) == "rank 0: 1\nrank 1: 0.333333373"
    assert wording.beside(calls, given, right) == "\n1\n0.333333373"


def test_check_and_the_grader_show_them():
    """Kills two printed answers that read the same, one of them right."""
    paper = public_paper(bank.find_function("ring_all_reduce_time"))
    right = paper.asked[0].expected
    outcome = Outcome("value", right.value * (1 + 3e-8))
    fault = paper.fault(0, outcome)
    assert wording.result(paper.item, outcome) == wording.result(paper.item, right)
    (failure,) = checking._failures(paper, [outcome], [fault])
    assert failure.yours != wording.result(paper.item, right)
    (sentence,) = public_sentences(paper, [PublicResult(0, outcome, fault)])
    for told in (failure.sentence, sentence):
        assert f"too large: {failure.yours} where " in told

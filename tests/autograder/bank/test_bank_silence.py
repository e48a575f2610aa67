"""Right values alone are not enough in a world: what a rank cannot know it must have been told."""

from __future__ import annotations

import math

import pytest

from autograder import bank
from autograder.bank import least
from autograder.items import Build, Case
from autograder.marking import compare
from autograder.marking.outcome import Outcome
from autograder.running.exam import Exam
from rankzero.events import Event

WORLDS = [item for item in bank.builds() if item.grade == "world"]


@pytest.fixture(scope="module")
def exam():
    with Exam(WORLDS, b"silence") as made:
        yield made


def needs_nothing(item: Build, case: Case) -> str:
    """Why no rank needs anything from another although there are several; empty where one does."""
    first = case.args[0]
    match item.id:
        case "02-ring-shift" if (first[1] if len(first) > 1 else 1) % len(case.args) == 0:
            return "after whole turns every tensor is where it was"
        case "14-execute-reshard" if all(move.source == move.destination for move in first[3]):
            return "the plan sends nothing"
        case "14-debug-src" if len(case.args) == 2:
            return "the serving half has one rank, which has the weights"
    tensors = [arg for args in case.args for arg in args if hasattr(arg, "shape")]
    if tensors and not any(math.prod(tensor.shape) for tensor in tensors):
        return "no rank has an element"
    return ""


@pytest.mark.parametrize("item", WORLDS, ids=lambda item: item.id)
def test_right_values_without_a_message_break_the_rule(item, exam):
    """Kills a rule that says what is too much and forgets what is too little: ranks may know by other ways."""
    paper = exam.paper(item)
    tried = 0
    for place in paper.once:
        asked = paper.asked[place]
        if asked.expected.kind != "value" or len(asked.case.args) == 1 or needs_nothing(item, asked.case):
            continue
        silent = Outcome("value", asked.expected.value)
        assert compare.broken_rule(item, asked.case, silent), f"{asked.case}"
        assert compare.broken_rule(item, asked.case, asked.expected) is None
        tried += 1
    assert tried >= 4


def test_the_sentence_says_who_has_heard_too_little():
    rule = least.from_each(8)
    told = [Event(rank, "all_gather", (0, 1, 2), 8, 24) for rank in range(3)]
    case = Case(((), (), ()))
    assert rule(case, (), told) is None
    assert rule(case, (), told[:2]) == "rank 2 received 0 bytes; it needs at least 16 bytes from the others"
    assert rule(Case(((),)), (), []) is None

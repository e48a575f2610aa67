"""Right values alone are not enough in a world: what a rank cannot know it must have been told."""

from __future__ import annotations

import math
from random import Random

import pytest

from autograder import bank
from autograder.bank import least_received
from autograder.items import Build, Case
from autograder.marking import compare, trusted_worlds
from autograder.marking.outcome import Outcome
from autograder.marking.papers import REFERENCE_TIME
from rankzero.events import Event

WORLDS = [item for item in bank.builds() if item.grade == "world"]


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


def speaking(item: Build) -> dict[int, list[Case]]:
    """The cases in which ranks need something from one another, by the number of ranks; most cases first."""
    found: dict[int, list[Case]] = {}
    for case in (*item.cases, *(case for _, cases in item.hidden(Random("silence")) for case in cases)):
        if not case.raises and len(case.args) > 1 and not needs_nothing(item, case):
            found.setdefault(len(case.args), []).append(case)
    return dict(sorted(found.items(), key=lambda one: (-len(one[1]), one[0])))


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.proof(part="bank"))])
def answers(request) -> dict[str, list[tuple[Case, Outcome]]]:
    """What references answer in worlds of one size, or of all."""
    cases = {}
    for item in WORLDS:
        by_ranks = list(speaking(item).values())
        assert sum(map(len, by_ranks)) >= 4
        cases[item.id] = [case for found in by_ranks[: None if request.param else 1] for case in found]
    runs = [trusted_worlds.Run(item, item.solution(), case) for item in WORLDS for case in cases[item.id]]
    outcomes = iter(trusted_worlds.ended(runs, REFERENCE_TIME))
    return {name: [(case, next(outcomes)) for case in found] for name, found in cases.items()}


@pytest.mark.parametrize("item", WORLDS, ids=lambda item: item.id)
def test_right_values_without_a_message_break_the_rule(item, answers):
    """Kills a rule that says what is too much and forgets what is too little: ranks may know by other ways."""
    for case, right in answers[item.id]:
        assert right.kind == "value"
        assert compare.broken_rule(item, case, Outcome("value", right.value)), f"{case}"
        assert compare.broken_rule(item, case, right) is None


def test_the_sentence_says_who_has_heard_too_little():
    rule = least_received.from_each(8)
    told = [Event(rank, "all_gather", (0, 1, 2), 8, 24) for rank in range(3)]
    case = Case(((), (), ()))
    assert rule(case, (), told) is None
    assert rule(case, (), told[:2]) == "rank 2 received 0 bytes; it needs at least 16 bytes from the others"
    assert rule(Case(((),)), (), []) is None

"""Exercises that are asked call by call, in this process: the reference answers, and no key lets a slip pass."""

from __future__ import annotations

import functools
import math
from random import Random

import pytest

from autograder import bank
from autograder.items import Build, Case, Slip
from autograder.marking import compare, trusted
from autograder.marking.outcome import Outcome

ITEMS = [item for item in bank.builds() if item.grade == "calls"]
SLIPS = [(item, slip) for item in ITEMS for slip in item.slips]
#: Of these it is the mistake itself that costs points, not that bad input is accepted or that the program breaks.
FLAGSHIPS = ("05-zero-memory", "05-dynamic-loss-scale", "05-loss-scaler", "cap-optimal-checkpoint-interval")
EACH_KEY = pytest.mark.parametrize(
    "keys", [range(3), pytest.param(range(3, 20), marks=pytest.mark.proof(part="bank"))], ids=["3", "all"]
)


def named(value) -> str | None:
    return value.name if isinstance(value, Slip) else getattr(value, "id", None)


@functools.cache
def answered(identifier: str, key: int) -> tuple[list[Case], list[Outcome]]:
    item = bank.find(identifier)
    cases = [case for _, drawn in item.hidden(Random(f"key {key}")) for case in drawn]
    return cases, trusted.run(item, item.solution(), cases)


@EACH_KEY
@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_the_reference_answers_as_the_cases_say(item, keys):
    rows = [row for key in keys for row in zip(*answered(item.id, key), strict=True)]
    rows += zip(item.cases, trusted.run(item, item.solution(), item.cases), strict=True)
    for case, outcome in rows:
        assert (outcome.kind, outcome.error) == (("raised", case.raises) if case.raises else ("value", "")), case
    assert answered(item.id, keys[0])[0] != answered(item.id, keys[1])[0]


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_no_key_lets_a_slip_pass(item, slip):
    """Two wrong answers at least, so that it can be named, or one that is not refused; with one key,
    ``test_full_marks`` says of every slip that it is named."""
    for key in range(20):
        cases, expected = answered(item.id, key)
        outcomes = trusted.run(item, item.program_of(slip), cases)
        faults = [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]
        assert sum(fault is not None for fault in faults) >= (1 if "raise" in slip.sentence else 2), key


@pytest.mark.proof(part="bank")
@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_slips_differ_from_each_other_and_are_complete_in_themselves(item):
    """The source of each alone can be handed in."""
    cases, _ = answered(item.id, 0)
    answers = [[one.value for one in trusted.run(item, item.program_of(slip), cases)] for slip in item.slips]
    assert len({repr(each) for each in answers}) == len({slip.sentence for slip in item.slips}) == len(answers)
    for slip in item.slips:
        names: dict[str, object] = {}
        exec(item.source_of(slip), names)
        assert item.program_of(slip).__name__ in names


def refused(answers) -> set[int]:
    """The places of calls that raised."""
    return {place for place, answer in enumerate(answers) if type(answer) is tuple and answer[0] == "raises"}


@pytest.mark.parametrize("identifier", FLAGSHIPS)
def test_a_slip_gives_wrong_values_on_good_input_and_breaks_nothing(identifier):
    item = bank.find(identifier)
    rows = [row for key in range(3) for row in zip(*answered(identifier, key), strict=True) if not row[0].raises]
    answers = set()
    for slip in item.slips:
        outcomes = trusted.run(item, item.program_of(slip), [case for case, _ in rows])
        answers.add(repr([outcome.value for outcome in outcomes]))
        faults = [compare.fault(item, *row, found) for row, found in zip(rows, outcomes, strict=True)]
        assert any(faults)
        for (_, right), wrong in zip(rows, outcomes, strict=True):
            assert wrong.kind == "value"
            assert item.grade == "call" or refused(wrong.value) <= refused(right.value)
    assert len(answers) == len(item.slips)


def test_every_method_of_the_scaler_is_asked_and_every_kind_of_gradient():
    calls = [call for key in range(20) for case in answered("05-loss-scaler", key)[0] for call in case.calls]
    methods = {"update", "unscale", "scale_loss", "state_dict", "load_state_dict", "scale", "growth_tracker"}
    assert {name for name, _ in calls} >= methods | {"other.update", "other.scale"}
    gradients = [value for name, arguments in calls if name == "unscale" for value in arguments[0]]
    assert {math.inf, -math.inf, 5e-324} < set(gradients)
    assert any(map(math.isnan, gradients))


def drawn(identifier: str, key: int) -> dict[str, list[Case]]:
    """The hidden cases by the name of their group."""
    item = bank.find(identifier)
    assert isinstance(item, Build)
    return {group.name: cases for group, cases in item.hidden(Random(f"key {key}"))}


@pytest.mark.parametrize("key", range(20))
def test_what_flagships_are_asked(key):
    """Every stage equally often; scales inside float64, so that dividing is as good; both sides of Daly's guard."""
    stages = [case.args[1] for case in next(iter(drawn("05-zero-memory", key).values()))]
    assert [stages.count(stage) for stage in range(4)] == [2, 2, 2, 2]
    cases, outcomes = answered("05-dynamic-loss-scale", key)
    assert all(found.value > 1e-307 for case, found in zip(cases, outcomes, strict=True) if not case.raises)
    ratios = [case.args[0] / case.args[1] for case in list(drawn("cap-optimal-checkpoint-interval", key).values())[1]]
    assert any(1.999 < ratio < 2 for ratio in ratios)
    assert {2.0, 3.0, 0.5} <= {round(ratio, 12) for ratio in ratios}

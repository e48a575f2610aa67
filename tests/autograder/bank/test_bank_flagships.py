"""The four flagship items: public values, hidden groups that no slip survives, and the whole way through the grader."""

import functools
import inspect
import math
import re
import subprocess
import sys
from random import Random

import pytest

from autograder import bank
from autograder.items import Iterator
from autograder.marking import compare, trusted
from autograder.running.exam import Exam
from autograder.running.judging import judge
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

FLAGSHIPS = ("05-zero-memory", "05-dynamic-loss-scale", "05-loss-scaler", "cap-optimal-checkpoint-interval")
ITEMS = tuple(bank.find(identifier) for identifier in FLAGSHIPS)
SLIPS = [(item, slip) for item in ITEMS for slip in item.slips]
KEYS = range(20)
CALLS = ("update", "unscale", "scale_loss", "state_dict", "load_state_dict", "scale", "growth_tracker")


def named(value):
    return getattr(value, "id", None) or value.name


def hidden(item, key):
    return item.hidden(Random(f"key {key}"))


@functools.cache
def answered(number, key):
    """The hidden cases of an item, by group, with the reference's outcomes."""
    item = ITEMS[number]
    return [(group, cases, trusted.run(item, item.solution(), cases)) for group, cases in hidden(item, key)]


def lost_groups(item, program, key):
    """Names of the groups in which ``program`` gives a wrong answer."""
    lost = set()
    for group, cases, expected in answered(ITEMS.index(item), key):
        outcomes = trusted.run(item, program, cases)
        if any(compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)):
            lost.add(group.name)
    return lost


def source_of(item, slip):
    source = item.source_of(slip)
    return source if slip.changes else f"{source}\n\n{item.function} = {slip.name}\n"


def graded(item, source, key=b"a key"):
    submission = Submission("handed in", (Unit("code.py", source, None),))
    return judge(submission, Exam([item], key), Sandbox.measure("none")).marks[0]


# In this process.


@pytest.mark.parametrize("item", ITEMS, ids=named)
@pytest.mark.parametrize("key", KEYS)
def test_the_reference_answers_every_case_or_raises_where_the_case_says_so(item, key):
    cases = [*item.cases, *(case for _, drawn in hidden(item, key) for case in drawn)]
    for case, outcome in zip(cases, trusted.run(item, item.solution(), cases), strict=True):
        assert (outcome.kind, outcome.error) == (("raised", case.raises) if case.raises else ("value", "")), case


@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_every_group_has_as_many_cases_as_it_says_and_bad_input_is_one_of_them(item):
    for key in KEYS:
        assert all(len(cases) == group.count for group, cases in hidden(item, key))
    assert all(
        case.raises or item.grade == "calls"
        for group, cases in hidden(item, 0)
        for case in cases
        if group.name == "bad input"
    )
    assert item.groups[-1].name == "bad input"
    assert any(case.raises for case in item.cases)


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_no_key_lets_a_slip_pass_on_good_input(item, slip):
    """The bad input is left out, so that it is the mistake itself that costs points."""
    for key in KEYS:
        assert lost_groups(item, item.program_of(slip), key) - {"bad input"}, key


def refused(answers):
    """The places of calls that raised."""
    return {place for place, answer in enumerate(answers) if type(answer) is tuple and answer[0] == "raises"}


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_a_slip_is_no_crash(item, slip):
    """A wrong program gives wrong values; one that raised on good input would only show that it is broken."""
    cases = [case for _, drawn in hidden(item, 0) for case in drawn if not case.raises]
    expected, found = (trusted.run(item, program, cases) for program in (item.solution(), item.program_of(slip)))
    for right, wrong in zip(expected, found, strict=True):
        assert wrong.kind == "value"
        assert item.grade == "call" or refused(wrong.value) <= refused(right.value)


@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_slips_differ_from_each_other(item):
    cases = [case for key in range(3) for _, drawn in hidden(item, key) for case in drawn if not case.raises]
    outcomes = [trusted.run(item, item.program_of(slip), cases) for slip in item.slips]
    answers = [repr([outcome.value for outcome in found]) for found in outcomes]
    assert len(set(answers)) == len(answers)
    assert len({slip.sentence for slip in item.slips}) == len(item.slips)


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_a_slip_is_complete_in_itself(item, slip):
    """Its source, run alone, is the same program."""
    namespace = {}
    exec(source_of(item, slip), namespace)
    cases = [case for case in item.cases if not case.raises]
    alone, here = (trusted.run(item, program, cases) for program in (namespace[item.function], item.program_of(slip)))
    assert repr([outcome.value for outcome in alone]) == repr([outcome.value for outcome in here])


def test_stages_are_drawn_equally_often():
    item = ITEMS[0]
    for key in KEYS:
        stages = [case.args[1] for case in hidden(item, key)[0][1]]
        assert [stages.count(stage) for stage in range(4)] == [2, 2, 2, 2]


def test_the_scales_asked_for_stay_inside_float64():
    """Else a program that divides where ours multiplies would fail by rounding to zero."""
    item = ITEMS[1]
    for key in KEYS:
        cases = [case for _, drawn in hidden(item, key) for case in drawn if not case.raises]
        assert all(outcome.value > 1e-307 for outcome in trusted.run(item, item.solution(), cases))


def test_flags_come_as_an_iterator_too_in_public_and_in_a_group():
    item = ITEMS[1]
    assert any(isinstance(case.args[0], Iterator) for case in item.cases if case.args)
    group = {group.name: cases for group, cases in hidden(item, 0)}["flags that come once"]
    assert all(isinstance(case.args[0], Iterator) for case in group)


def test_every_method_of_the_scaler_is_asked_and_every_kind_of_gradient():
    item = ITEMS[2]
    calls = [call for key in KEYS for _, drawn in hidden(item, key) for case in drawn for call in case.calls]
    assert {name for name, _ in calls} >= {*CALLS, "other.update", "other.scale"}
    gradients = [value for name, arguments in calls if name == "unscale" for value in arguments[0]]
    assert {math.inf, -math.inf, 5e-324} < set(gradients)
    assert any(map(math.isnan, gradients))


def test_checkpoints_are_asked_on_both_sides_of_the_guard():
    item = ITEMS[3]
    for key in KEYS:
        ratios = [case.args[0] / case.args[1] for case in hidden(item, key)[1][1]]
        assert any(1.999 < ratio < 2 for ratio in ratios)
        assert {2.0, 3.0, 0.5} <= {round(ratio, 12) for ratio in ratios}


def test_the_bank_is_read_without_torch():
    modules = "autograder.bank.ch05.items, autograder.bank.ch15.items"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules or 'solutions' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Through the grader.


@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_the_reference_earns_everything(item):
    module = sys.modules[item.solution().__module__]
    mark = graded(item, inspect.getsource(module))
    assert (mark.state, mark.score) == ("right", item.points), (mark.public, mark.hidden)


@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_a_stub_earns_nothing(item):
    stub = f"def {item.function}(*args, **kwargs):\n    raise NotImplementedError({item.id!r})\n"
    mark = graded(item, stub)
    assert (mark.state, mark.score) == ("unwritten", 0.0)


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_a_slip_fails_and_is_named(item, slip):
    mark = graded(item, source_of(item, slip))
    assert mark.score < item.points
    assert mark.hidden[0] == slip.sentence


@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_a_reference_that_accepts_bad_input_loses_that_group_alone_and_gets_its_hint(item):
    """Kills a bank whose slips explain every failure: none of them is what happened here."""
    module = inspect.getsource(sys.modules[item.solution().__module__])
    mark = graded(item, re.sub(r"raise ValueError\(.*\)", "pass", module))
    lost = [share.name for share in mark.shares if share.score < share.points]
    assert lost == ["public cases", "bad input"]
    assert len(mark.hidden) == 1
    assert mark.hidden[0].startswith("Bad input must raise ValueError")

"""The judge: full marks for the right program, and no point for one that did not earn it."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
import toy_bank as toys
from toy_bank import LOWEST, SCALE, SPREAD, TALLY, marks

from autograder.items import Case, Group, Slip
from autograder.marking import judge, outcome, sentences, trusted
from autograder.marking.outcome import Outcome
from autograder.marking.papers import CannotJudge
from autograder.running.exam import Exam


def test_the_reference_earns_every_point(tmp_path):
    for mark in marks(tmp_path, toys.RIGHT).values():
        assert (mark.state, mark.score) == ("right", mark.points)


@pytest.mark.parametrize(
    "body",
    [
        "return 0.0",
        "return None",
        "pass",
        "raise ValueError",
        "raise NotImplementedError('91-scale: ...')",
        "return args",
    ],
)
@pytest.mark.parametrize("item", toys.ITEMS[:3], ids=lambda item: item.id)
def test_constants_stubs_and_errors_earn_nothing(tmp_path, item, body):
    """Kills: paying for a corner (a factor of 0, a bad input) that a constant or an error happens to meet."""
    mark = marks(tmp_path, f"def {item.function}(*args, **kwargs):\n    {body}\n", item)[item.function]
    assert mark.score == 0
    assert mark.state in ("wrong", "unwritten")


def test_a_table_of_the_public_answers_earns_nothing(tmp_path):
    """Kills: paying the public point for hard-coded examples."""
    source = """
def scale(value, factor):
    if factor < 0:
        raise ValueError
    return {(2.0, 3.0): 6.0, (0.5, 4.0): 2.0}.get((value, factor), 0.0)
"""
    mark = marks(tmp_path, source, SCALE)["scale"]
    assert mark.shares[0].passed == mark.shares[0].total
    assert mark.score == 0
    assert any("public cases are right, but" in sentence for sentence in mark.hidden)


def test_a_missing_check_costs_its_group_alone(tmp_path):
    mark = marks(tmp_path, inspect.getsource(toys.slip_no_check).replace("slip_no_check", "scale"), SCALE)["scale"]
    assert [share.score for share in mark.shares] == [1.0, 1.0, 1.0, 0.0]
    assert mark.shares[0].passed < mark.shares[0].total  # a public case has to raise, too
    assert mark.hidden == ("A negative factor must raise.",)


@pytest.mark.parametrize("item", [SCALE, SPREAD], ids=lambda item: item.id)
def test_every_slip_fails_and_is_named(tmp_path, item):
    for slip in item.slips:
        source = inspect.getsource(slip.program).replace(slip.program.__name__, item.function)
        mark = marks(tmp_path, source, item)[item.function]
        assert mark.state != "right"
        assert mark.hidden[0] == slip.sentence


def test_no_slip_is_named_for_another_mistake(tmp_path):
    mark = marks(tmp_path, "def scale(value, factor):\n    return value * factor * 2\n", SCALE)["scale"]
    assert mark.hidden == (
        "any value, factors above 1",
        "factors below 0 (returned a value; raise ValueError)",
    )
    assert "the value is 2x too large" in mark.public[0]


def test_answers_that_change_from_call_to_call_earn_nothing(tmp_path):
    """Kills: believing the first answer of a function that turns wrong later."""
    papers = toys.exam(SCALE).paper(SCALE)
    right = len(papers.asked) - 1
    source = f"""
calls = 0
def scale(value, factor):
    global calls
    calls += 1
    if factor < 0 and calls <= {right}:
        raise ValueError
    return value * factor if calls <= {right} else 0.0
"""
    mark = marks(tmp_path, source, SCALE)["scale"]
    assert (mark.score, mark.public) == (0.0, ("answers change from call to call",))


def test_a_missing_function_is_one_sentence_and_costs_itself_alone(tmp_path):
    found = marks(
        tmp_path, "def scale(value, factor):\n    if factor < 0: raise ValueError\n    return value * factor\n"
    )
    assert found["scale"].state == "right"
    assert (found["lowest"].state, found["lowest"].public) == ("missing", ("lowest is not in the submission",))


def test_a_stub_is_not_implemented_yet(tmp_path):
    mark = marks(tmp_path, "def lowest(values):\n    raise NotImplementedError('91-lowest: ...')\n", LOWEST)["lowest"]
    assert (mark.state, mark.public, mark.hidden) == ("unwritten", ("not implemented yet",), ())


def test_the_helper_that_is_missing_is_named(tmp_path):
    mark = marks(tmp_path, inspect.getsource(toys.spread))["spread"]
    assert mark.public == ("spread needs lowest (91-lowest), which is not there",)


def test_the_helper_that_is_a_stub_is_named(tmp_path):
    stub = "def lowest(values):\n    raise NotImplementedError('91-lowest: ...')\n\n"
    mark = marks(tmp_path, stub + inspect.getsource(toys.spread))["spread"]
    assert mark.public == ("spread needs lowest (91-lowest), which is not implemented yet",)


@pytest.mark.parametrize(
    "body",
    [
        "raise KeyError(f'hidden {value} {factor}')",
        "print('hidden', value, factor); return None",
        "return f'hidden {value} {factor}'",
        "raise type(f'hidden_{value}'.replace('.', '_'), (Exception,), {})('hidden')",
        "return type(f'hidden_{value}'.replace('.', '_'), (), {})()",
    ],
)
def test_nothing_the_code_says_about_hidden_inputs_is_shown(tmp_path, body):
    """Kills: showing output, exception text or made-up class names of hidden calls."""
    mark = marks(tmp_path, f"def scale(value, factor):\n    {body}\n", SCALE)["scale"]
    assert mark.score == 0
    assert "hidden" not in " ".join(mark.hidden)
    public = {case.args for case in SCALE.cases}
    hidden = [asked.case.args for asked in toys.exam(SCALE).paper(SCALE).asked if asked.case.args not in public]
    said = " ".join(mark.public + mark.hidden)
    assert not any(str(args[0]) in said for args in hidden if args[0] != 1.0)


def test_hidden_sentences_hold_no_expected_value_and_no_ratio(tmp_path):
    mark = marks(tmp_path, "def scale(value, factor):\n    return 1.0\n", SCALE)["scale"]
    assert "x too" not in " ".join(mark.hidden)


def test_a_class_is_driven_and_shares_no_state(tmp_path):
    """Kills: accepting a class attribute that all instances share."""
    source = "class Tally:\n    total = 0\n    def __init__(self, start=0):\n        Tally.total += start\n"
    source += "    def add(self, amount):\n        Tally.total += amount\n        return Tally.total\n"
    assert marks(tmp_path, source, TALLY)["Tally"].score == 0


def test_an_optional_item_adds_points_and_not_to_the_total(tmp_path):
    file = tmp_path / "toys.py"
    file.write_text(toys.RIGHT)
    grading = toys.graded(file)
    assert (grading.score, grading.points) == (16.0, 12.0)


# The papers


def test_equal_keys_ask_the_same_and_other_keys_do_not():
    first, again, other = (Exam(toys.ITEMS, key) for key in (b"a", b"a", b"b"))
    assert first.paper(SCALE).cases == again.paper(SCALE).cases != other.paper(SCALE).cases
    assert first.vectors_hash == again.vectors_hash != other.vectors_hash
    assert first.key_hash == again.key_hash != other.key_hash


def test_what_an_item_is_asked_does_not_depend_on_the_others():
    assert Exam([SCALE], b"a").paper(SCALE).cases == Exam(toys.ITEMS, b"a").paper(SCALE).cases


def test_public_and_hidden_cases_are_mixed_and_two_are_asked_again():
    """Kills: asking public cases first, so that a program can tell the hidden ones."""
    orders = set()
    for key in (b"a", b"b", b"c", b"d"):
        paper = Exam([SCALE], key).paper(SCALE)
        (hidden, hidden_again), (public, public_again) = paper.again
        assert public_again == len(paper.asked) - 1
        assert paper.asked[public].group is None
        assert paper.asked[hidden].group is not None
        assert paper.asked[hidden_again] == paper.asked[hidden]
        orders.add(tuple(asked.group is None for asked in paper.asked))
    assert len(orders) > 1


def test_a_reference_that_breaks_its_own_bank_is_the_graders_fault(tmp_path):
    broken = toys.Toy(
        "91 toys.scale", "91.1", "t", (Case((1.0, -1.0)),), (Group("g", lambda _: Case((1.0, 1.0)), 1, ""),), (),
    )  # fmt: skip
    with pytest.raises(CannotJudge, match="91-scale cannot be judged"):
        Exam([broken], b"a").paper(broken)
    file = tmp_path / "toys.py"
    file.write_text(toys.RIGHT)
    grading = toys.graded(file, broken, LOWEST)
    assert [mark.state for mark in grading.marks] == ["unjudged", "right"]
    assert grading.reason.startswith("91-scale cannot be judged")


def test_a_paper_is_drawn_once_for_a_class():
    exam = toys.exam(SCALE)
    assert exam.paper(SCALE) is exam.paper(SCALE)


def test_points_come_from_outcomes_alone():
    """Regrading from stored outcomes: no child is needed to mark a paper."""
    paper = toys.exam(SCALE).paper(SCALE)
    assert judge.mark(paper, [asked.expected for asked in paper.asked]).score == SCALE.points
    late = [Outcome("timeout", detail="scale did not return within 2 s")] * len(paper.asked)
    mark = judge.mark(paper, late)
    assert mark.score == 0
    assert (mark.public, mark.hidden) == (("scale did not return within 2 s",), ())


def test_a_step_of_a_class_earns_its_points_alone():
    """Kills: a first group that gates a part of the class which needs nothing of it."""

    class Half(toys.Tally):
        def add(self, amount):
            raise NotImplementedError("add: not written yet")

    def reads(rng):
        return Case(calls=(("total", None), ("other.total", None)))

    read = (Group("read", reads, 2, "a hint", step="reading"), Group("again", reads, 1, "a hint", step="reading"))
    item = replace(TALLY, cases=(*TALLY.cases, reads(None)), groups=(*TALLY.groups, *read))
    earned = {share.name: share.score for share in judge.mark(*outcomes_of(item, Half)).shares}
    assert [name for name, score in earned.items() if score] == ["read", "again"]

    class Other(toys.Tally):
        @property
        def total(self):
            raise NotImplementedError("total: not written yet")

    assert judge.mark(*outcomes_of(item, Other)).score == 0


# Slips are named where they are true.


def outcomes_of(item, program, key=b"sesame"):
    paper = Exam([item], key).paper(item)
    return paper, trusted.run(item, program, paper.cases)


def test_a_slip_that_is_wrong_where_the_submission_is_right_is_not_named():
    """Kills: naming a slip by the inputs that must be refused alone, by which a right formula is called wrong."""

    def scale(value, factor):
        return value * factor

    added = replace(toys.SCALE, slips=(Slip("The factor was added.", toys.slip_added),))
    paper, outcomes = outcomes_of(added, scale)
    mark = judge.mark(paper, outcomes)
    assert mark.state == "partly"
    assert mark.slip == ""
    assert not any("added" in sentence for sentence in mark.hidden)


def test_a_slip_that_refuses_as_little_is_named_by_what_it_accepts():
    paper, outcomes = outcomes_of(toys.SCALE, toys.slip_no_check)
    assert judge.mark(paper, outcomes).slip == "A negative factor must raise."


def test_a_slip_is_named_though_the_arguments_are_not_checked():
    def scale(value, factor):
        return value + factor

    paper, outcomes = outcomes_of(toys.SCALE, scale)
    assert judge.mark(paper, outcomes).slip == "The factor was added."


def test_two_mistakes_at_once_are_not_called_one():
    def scale(value, factor):
        return value + factor if factor > 5 else value - factor

    paper, outcomes = outcomes_of(toys.SCALE, scale)
    assert judge.mark(paper, outcomes).slip == ""


class Doubles(toys.Tally):
    """Adds twice as much; refuses what has to be refused."""

    def add(self, amount):
        super().add(amount)
        return super().add(amount)


class DoublesAnything(Doubles):
    def add(self, amount):
        return super().add(amount) if amount >= 0 else self.total


class Ignores(toys.Tally):
    """Leaves out what has to be refused."""

    def add(self, amount):
        return super().add(amount) if amount >= 0 else self.total


class RaisesOther(toys.Tally):
    def add(self, amount):
        if amount < 0:
            raise KeyError(amount)
        return super().add(amount)


def tallied(program, *slips, hint="some amounts are below 0"):
    """The mark of a class, with a hidden group in which some calls have to be refused."""

    def draw(rng):
        return Case(calls=(("add", (rng.randint(1, 9),)), ("add", (-rng.randint(1, 9),)), ("total", None)))

    groups = (*TALLY.groups, Group("mixed", draw, 4, hint))
    item = replace(TALLY, groups=groups, slips=tuple(Slip(slip.__name__, slip) for slip in slips))
    return judge.mark(*outcomes_of(item, program))


@pytest.mark.parametrize(
    ("program", "slip", "named"),
    [
        (Doubles, Doubles, True),
        (DoublesAnything, Doubles, True),  # most people who make a slip also forget to check
        (Doubles, DoublesAnything, False),  # what the submission refuses counts
        (Ignores, RaisesOther, False),  # without the calls to be refused nothing would be wrong
        (Ignores, Ignores, True),
        (RaisesOther, Ignores, False),
    ],
)
def test_a_class_gets_the_name_of_a_slip_that_refuses_as_it_does(program, slip, named):
    """Kills: slips that agree only because the answers to calls that must be refused are left out."""
    assert tallied(program, slip).slip == (slip.__name__ if named else "")


def test_the_call_that_answered_is_said():
    assert "some amounts are below 0 (add returned a value; raise ValueError)" in tallied(Ignores).hidden
    assert "some amounts are below 0 (add raised another exception; raise ValueError)" in tallied(RaisesOther).hidden
    assert "some amounts are below 0" in tallied(DoublesAnything).hidden[-1]


@pytest.mark.parametrize(("program", "told"), [(Doubles, False), (Ignores, True), (DoublesAnything, True)])
def test_a_hint_about_an_error_is_not_said_of_who_raises_it(program, told):
    """Kills: telling somebody to refuse what she does refuse, where the case fails at another call."""
    hidden = tallied(program, hint="An amount below 0 is a ValueError.").hidden
    assert any("below 0" in sentence for sentence in hidden) == told


def test_what_was_not_tried_is_not_held_against_an_earlier_answer():
    """Kills: "answers change from call to call" of a program that is asked no more, as it does not end elsewhere."""
    untried = Outcome("timeout", detail="not tried: before, no answer in time")
    paper, outcomes = outcomes_of(toys.SCALE, toys.scale)
    last = toys.SCALE.groups[-1]
    assert paper.again
    for place, asked in enumerate(paper.asked):
        if asked.group is last or any(place == repeated for _, repeated in paper.again):
            outcomes[place] = untried
    mark = judge.mark(paper, outcomes)
    assert mark.score > 0
    assert mark.hidden == (f"{last.hint} (no answer in time, here or before)",)
    assert not any("change" in sentence for sentence in mark.public)


@pytest.mark.parametrize(
    "missing",
    [
        Outcome("timeout", detail=outcome.NO_TIME),
        Outcome("refused", detail=outcome.TOO_MUCH),
        Outcome("refused", detail=f"rank 3: {outcome.TOO_MUCH}"),
        Outcome("timeout", detail="scale does not return within 2 s"),
    ],
    ids=str,
)
def test_an_answer_that_does_not_come_again_is_not_held_against_the_first(missing):
    """Kills: no points for the item in which the time or the room of a whole submission runs out."""
    paper, outcomes = outcomes_of(toys.SCALE, toys.scale)
    assert paper.again
    repeated = {two for _, two in paper.again}
    mark = judge.mark(paper, [missing if place in repeated else one for place, one in enumerate(outcomes)])
    assert (mark.state, mark.score) == ("right", toys.SCALE.points)
    public = [asked.expected for asked in paper.asked if asked.group is None][: len(toys.SCALE.cases)]
    hidden = judge.mark(paper, [missing] * len(outcomes), (), public)
    assert not any("change" in sentence for sentence in hidden.public)


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("rank 0 broke the rules of its channel", "the process died"),
        ("rank 1: ended by SIGKILL", "the process died"),
        (f"rank 12: {outcome.TOO_MUCH}", outcome.TOO_MUCH),
        (outcome.TOO_MUCH, outcome.TOO_MUCH),
    ],
)
def test_of_a_process_that_died_a_fixed_sentence_is_said(detail, said):
    outcome = Outcome("died", detail=detail)
    assert sentences._remark(Outcome("value", 1.0), outcome, "the process ended") == f" ({said})"

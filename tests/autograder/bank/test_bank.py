"""Every chapter's bank: its list, its questions, its cases and slips, in this process."""

from __future__ import annotations

import functools
import importlib
import itertools
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import get_args

import pytest

from autograder import bank
from autograder.items import Build, Case, Choice, Design, Estimate, Item, Question, QuestionKind, Slip
from autograder.maintenance import verifying
from autograder.marking import compare, questions, trusted
from autograder.marking.outcome import Outcome

ITEMS = bank.items()
EXERCISES = bank.builds()
PLAIN = [item for item in EXERCISES if item.grade == "call"]
QUESTIONS = [item for item in ITEMS if isinstance(item, Question)]
CHOICES = [item for item in ITEMS if isinstance(item, Choice)]
PARTS = [(item, place) for item in QUESTIONS for place in range(len(item.parts))]
PLAIN_SLIPS = [(item, slip) for item in PLAIN for slip in item.slips]
PROOF = pytest.mark.proof(part="bank")
#: One key in ``make test``, and many in ``make proof``.
KEYS = pytest.mark.parametrize("keys", [range(1), pytest.param(range(1, 20), marks=PROOF)], ids=["a key", "keys"])


def named(value) -> str | None:
    return value.name if isinstance(value, Slip) else getattr(value, "id", None)


def one_process(item: Item) -> pytest.MarkDecorator:
    """The tests of an item share what is drawn for it and what its reference answers."""
    return pytest.mark.xdist_group(f"bank {item.id}")


BUILT = [pytest.param(item, id=item.id, marks=one_process(item)) for item in EXERCISES]
ANSWERED = [pytest.param(item, id=item.id, marks=one_process(item)) for item in PLAIN]
SLIPPED = [pytest.param(item, slip, id=f"{item.id}-{slip.name}", marks=one_process(item)) for item, slip in PLAIN_SLIPS]


def hidden(item: Build, key: int) -> list[tuple]:
    """The hidden cases by group. Those of plain items are kept; tensors of millions of elements are not."""
    return _hidden(item.id, key) if item.grade == "call" else item.hidden(Random(f"key {key}"))


@functools.cache
def _hidden(identifier: str, key: int) -> list[tuple]:
    return bank.find(identifier).hidden(Random(f"key {key}"))


def drawn(item: Build, key: int) -> list[Case]:
    return [case for _, cases in hidden(item, key) for case in cases]


@functools.cache
def answered(identifier: str, key: int) -> tuple[list[Case], list[Outcome]]:
    """The hidden cases of a plain item, with what the reference gives: once for all of its tests."""
    item = bank.find(identifier)
    cases = drawn(item, key)
    return cases, trusted.run(item, item.solution(), cases)


@functools.cache
def program_of(identifier: str, slip: Slip) -> Callable:
    """The wrong program, edited and compiled once for all tests."""
    return bank.find(identifier).program_of(slip)


# The lists.


def test_ids_and_functions_are_unique_in_the_course():
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert len({item.function for item in EXERCISES}) == len(EXERCISES)


MODULES = [importlib.import_module(name) for chapter in bank.CHAPTERS for name in bank.modules(chapter)]


def test_every_item_that_is_written_is_registered():
    """Kills: an item of which neither a page nor a test hears, because its module names it otherwise."""
    values = [value for module in MODULES for value in vars(module).values()]
    values += [one for value in values if isinstance(value, tuple) for one in value]
    written = {value.id for value in values if isinstance(value, Item)}
    assert written - {item.id for item in (*ITEMS, *bank.milestones())} == set()
    assert len(written) >= len(ITEMS)


@pytest.mark.parametrize("module", [one for one in MODULES if bank.held(one)], ids=lambda module: module.__name__)
def test_a_module_says_what_it_holds(module):
    """One exercise under its own name, or the questions of one section, in the order of the page."""
    _, _, chapter, name = module.__name__.split(".")
    held = bank.held(module)
    assert [item for item in bank.of_chapter(chapter) if item in held] == list(held)
    if isinstance(held[0], Build):
        assert held[0].id.partition("-")[2].replace("-", "_") == name
    elif name.startswith("section_"):
        assert {f"section_{int(item.section.partition('.')[2]):02}" for item in held} == {name}
    else:
        assert name.startswith("design")
        assert any(isinstance(item, Design) for item in held)


@pytest.mark.parametrize("item", EXERCISES, ids=named)
def test_an_exercise_is_named_after_its_function(item):
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", item.function).replace("_", "-").lower()
    assert item.id.partition("-")[2] == words
    assert item.solution().__name__ == item.function


@pytest.mark.parametrize("chapter", bank.CHAPTERS)
def test_items_stand_in_the_order_of_the_page(chapter):
    sections = [item.section for item in bank.of_chapter(chapter)]
    places = [[int(number) for number in re.findall(r"\d+", section)] for section in sections]
    assert places == sorted(places)
    assert {section.partition(".")[0] for section in sections} <= {chapter.removeprefix("ch").lstrip("0")}


def test_a_bank_is_read_without_torch_and_without_solutions():
    modules = ", ".join(module.__name__ for module in MODULES)
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules or 'solutions' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


#: What a grader does that holds chapters 1 and 10 alone; in a process of its own, as what was read is kept.
SOME_CHAPTERS = """
import sys
from autograder import bank
from autograder.submission import load_files

bank.CHAPTERS = ("ch01", "ch10")
for number in {*range(1, 16)} - {1, 10}:
    sys.modules[f"autograder.bank.ch{number:02}"] = None  # importing it fails
assert bank.on_request() == ()
assert {item.section.partition(".")[0] for item in bank.items()} == {"1", "10"}
assert load_files("ann", {"x.py": lambda: b"def locate(rank, ranks_per_node): return 0, 0\\n"}).units
"""


def test_where_some_chapters_are_no_other_is_asked_for():
    """Kills a grader in Gradescope's container that looks for programs of chapters which are not packed."""
    assert subprocess.run([sys.executable, "-c", SOME_CHAPTERS], check=False).returncode == 0


# The questions.


@pytest.mark.parametrize(("item", "place"), PARTS, ids=named)
def test_the_answer_is_right_and_every_slip_is_named(item, place):
    part = item.parts[place]
    assert questions.judge_number(part, part.answer()) == (True, "")
    for slip in part.slips:
        assert questions.judge_number(part, questions.slip_value(slip)) == (False, slip.sentence)


@pytest.mark.parametrize(("item", "place"), PARTS, ids=named)
def test_a_derivation_does_not_hold_the_result(item, place):
    """Short numbers may stand there as inputs."""
    result = f"{item.parts[place].answer():.7g}"
    assert len(result) < 3 or result not in item.derivation


@pytest.mark.parametrize("item", CHOICES, ids=named)
def test_every_wrong_option_has_its_sentence(item):
    assert set(item.slips) == set(range(len(item.options))) - {item.correct}


def test_the_letter_of_the_right_option_cannot_be_guessed():
    letters = [questions.letter(item, item.correct) for item in CHOICES]
    assert all(letters.count(letter) < 0.5 * len(letters) for letter in "abcd")
    assert all(sorted(item.shown()) == sorted(set(item.options)) for item in CHOICES)


def test_every_kind_is_one_that_is_known():
    asked = [item for item in ITEMS if not isinstance(item, Build)]
    assert {item.kind for item in asked} <= set(get_args(QuestionKind))
    assert all(verifying.question(item) == [] for item in asked if isinstance(item, Design))
    assert all((item.kind == "estimate") == isinstance(item, Estimate) for item in asked)


@pytest.mark.parametrize("item", [item for item in ITEMS if isinstance(item, Estimate)], ids=named)
def test_estimates_and_their_slips_are_told_apart(item):
    assert verifying.question(item) == []
    assert questions.judge_estimate(item, item.answer())[0]
    assert questions.judge_estimate(item, item.answer() * item.factor * 0.999)[0]
    assert not questions.judge_estimate(item, item.answer() / item.factor * 0.999)[0]


# Cases and slips.


@KEYS
@pytest.mark.parametrize("item", BUILT)
def test_groups_have_the_cases_that_they_promise(item, keys):
    few = keys if item.grade != "world" else keys[:2]  # tensors of millions of elements take their time
    counts = {tuple(len(cases) for _, cases in hidden(item, key)) for key in (*few, "another")}
    assert counts == {tuple(group.count or len(cases) for group, cases in hidden(item, few[0]))}
    if item.grade == "world":
        assert len(drawn(item, 0)) <= 10
        assert {len(case.args) for case in (*item.cases, *drawn(item, 0))} <= {1, 2, 3, 4}


@KEYS
@pytest.mark.parametrize("item", ANSWERED)
def test_the_reference_answers_as_the_cases_say(item, keys):
    public = list(item.cases), trusted.run(item, item.solution(), item.cases)
    for cases, outcomes in (public, *(answered(item.id, key) for key in keys)):
        for case, outcome in zip(cases, outcomes, strict=True):
            assert (outcome.kind, outcome.error) == (("raised", case.raises) if case.raises else ("value", "")), case


@PROOF
@pytest.mark.parametrize("item", EXERCISES, ids=named)
def test_every_edit_fits_its_base(item):
    """Kills: an edit of text that its base has no more, or has twice: the message says which.

    With one key, ``test_full_marks`` runs every slip.
    """
    for slip in item.slips:
        assert slip.program or slip.changes
        assert program_of(item.id, slip).__name__ == (slip.program.__name__ if slip.program else item.function)


@PROOF
@pytest.mark.parametrize(("item", "slip"), SLIPPED)
def test_no_key_lets_a_slip_pass(item, slip):
    """Two wrong answers at least, so that it can be named, or one that is not refused; with one key,
    ``test_full_marks`` says of every slip that it is named."""
    program, least = program_of(item.id, slip), 1 if "raise" in slip.sentence else 2
    for key in range(20):
        assert len(list(itertools.islice(faults(item, program, key), least))) == least, key


def faults(item: Build, program: Callable, key: int) -> Iterator[str]:
    """What is wrong in the answers of a wrong program, case by case, as far as it is asked for."""
    for case, right in zip(*answered(item.id, key), strict=True):
        (outcome,) = trusted.run(item, program, [case])
        if fault := compare.fault(item, case, right, outcome):
            yield fault


@PROOF
@pytest.mark.parametrize("item", ANSWERED)
def test_slips_differ_from_each_other(item):
    """Case by case, until every slip has answered otherwise than every other; else a report would name the first."""
    alike = [list(item.slips)]
    for case in answered(item.id, 0)[0]:
        alike = [part for slips in alike if len(slips) > 1 for part in told_apart(item, slips, case)]
    assert [[slip.sentence for slip in slips] for slips in alike if len(slips) > 1] == []


def told_apart(item: Build, slips: list[Slip], case: Case) -> list[list[Slip]]:
    """The slips that give the same answer, together."""
    found: dict[str, list[Slip]] = {}
    for slip in slips:
        (outcome,) = trusted.run(item, program_of(item.id, slip), [case])
        found.setdefault(repr((outcome.kind, outcome.value)), []).append(slip)
    return list(found.values())

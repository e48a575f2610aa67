"""The answers of questions and estimates beside those worked out by hand, in ``chNN/answers.py``."""

from __future__ import annotations

import importlib

import pytest

from autograder import bank
from autograder.items import Estimate, Question
from autograder.marking import questions

TABLES = {
    chapter: importlib.import_module(f"tests.autograder.bank.{chapter}.answers")
    for chapter in bank.CHAPTERS
    if chapter != "ch03"  # its page computes them
}
ROWS = [
    (identifier, table)
    for table in TABLES.values()
    for identifier in (*table.ANSWERS, *getattr(table, "ESTIMATES", {}))
]
SLIPS = [(place, numbers) for table in TABLES.values() for place, numbers in getattr(table, "SLIPS", {}).items()]
#: In these only some questions are worked out.
PARTLY = ("ch13",)


@pytest.mark.parametrize("chapter", [chapter for chapter in TABLES if chapter not in PARTLY])
def test_every_question_is_answered_here_too(chapter):
    asked = {item.id for item in bank.of_chapter(chapter) if isinstance(item, Question)}
    assert set(TABLES[chapter].ANSWERS) == asked


@pytest.mark.parametrize(("identifier", "table"), ROWS, ids=lambda one: one if isinstance(one, str) else "")
def test_the_answers_worked_out_by_hand(identifier, table):
    item = bank.find(identifier)
    if isinstance(item, Estimate):
        assert item.answer() == pytest.approx(table.ESTIMATES[identifier], rel=1e-5)
    else:
        answers = [part.answer() for part in item.parts]
        assert answers == pytest.approx(list(table.ANSWERS[identifier]), rel=table.EXACT, abs=1e-12)


@pytest.mark.parametrize(("place", "numbers"), SLIPS, ids=lambda one: one[0] if isinstance(one, tuple) else "")
def test_the_wrong_numbers_that_people_give_are_explained(place, numbers):
    identifier, part = place
    item = bank.find(identifier)
    explained = [
        questions.slip_value(slip) for slip in (item if isinstance(item, Estimate) else item.parts[part]).slips
    ]
    assert all(any(value == pytest.approx(number, rel=5e-3) for value in explained) for number in numbers)

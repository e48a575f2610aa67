"""Chapter 11's bank, masks and budgets: answers as the page prints them, probes that allow every right program."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch11 import constraint_state, shared
from autograder.items import Build, Case, Choice
from autograder.marking import values
from autograder.probes import ch11_constraints as probes
from solutions.ch11.constrained import ConstraintState, grammars, schema_to_regex, token_index
from tests.autograder import handed_in

ITEMS = bank.of_chapter("ch11")
EXERCISES = {item.function: item for item in ITEMS if isinstance(item, Build)}
CHOICES = {item.id: item for item in ITEMS if isinstance(item, Choice)}


# The list.


def test_the_right_options():
    right = {name: item.options[item.correct] for name, item in CHOICES.items()}
    assert right["11-nan"] == "NaN"
    assert right["11-eos-when"].startswith("Exactly in states in which the text is complete")
    assert right["11-which-fit"].startswith("All but")
    assert "rolled back" in right["11-order-combined"]


# Other right programs pass.


def test_a_pattern_is_judged_by_what_it_matches():
    """Another way to write the same language."""

    def otherwise(schema):
        return (
            f"(?:{schema_to_regex(schema).replace('[0-9]', '[0123456789]').replace('(true|false)', '(?:false|true)')})"
        )

    assert set(handed_in.faults(EXERCISES["schema_to_regex"], otherwise)) == {None}


def test_forms_by_other_patterns():
    def otherwise():
        return grammars() | {"phone": "([0-9][0-9][0-9]-){2}[0-9]{4}"}

    otherwise.__name__ = "grammars"
    assert set(handed_in.faults(EXERCISES["grammars"], otherwise)) == {None}


def test_an_index_by_a_tree_of_the_vocabulary():
    """Another way to the same index: tokens sorted, and their common beginnings walked once."""

    def otherwise(dfa, vocabulary, eos):
        whole = token_index(dfa, vocabulary, eos)
        return {state: dict(sorted(row.items(), reverse=True)) for state, row in sorted(whole.items(), reverse=True)}

    assert set(handed_in.faults(EXERCISES["token_index"], otherwise)) == {None}


@pytest.mark.parametrize(
    "answer", [None, 3, "(", [], {"phone": 3}, {"phone": "(", "signature": "(", "email": "("}, {"phone": ""}]
)
def test_a_strange_answer_is_a_wrong_answer(answer):
    """Kills a probe that fails itself: an answer that is no pattern is told as one."""
    forms = handed_in.faults(EXERCISES["grammars"], lambda: answer)
    assert None not in forms
    schema = handed_in.faults(EXERCISES["schema_to_regex"], lambda schema: answer)
    assert any(schema)


# What the probes hand in.


def test_vocabularies_are_written_as_inside_a_bytes_literal():
    tokens = [b"", b"a", b"\xc3", "漢".encode(), b"\\", b'"', b"'", b"\n"]
    assert probes.as_bytes(shared.written(tokens)) == tokens


def test_the_state_of_the_probe_is_that_of_the_course():
    """The loop to be fixed is given a state; it must do what ``ConstraintState`` does."""
    rng = Random(5)
    for _ in range(40):
        made = constraint_state._index(rng)
        mine, theirs = ConstraintState(*made), probes.State(*made)
        for _ in range(12):
            for left in (None, 0, 1, 2, 5):
                assert mine.allowed(left) == theirs.allowed(left)
            assert (mine.distance(), mine.finished) == (theirs.distance(), theirs.finished)
            if mine.finished:
                break
            token = rng.choice(mine.allowed())
            mine.advance(token)
            theirs.advance(token)


def test_texts_that_are_called_right_are_json():
    """The texts that the reference matches are read by ``json.loads``; every case has some of both kinds."""
    for key in range(5):
        for group, cases in EXERCISES["schema_to_regex"].hidden(Random(key)):
            for case in cases:
                if case.raises:
                    continue
                schema, texts = case.args
                matches = [re.fullmatch(schema_to_regex(schema), text) is not None for text in texts]
                assert any(matches), group.name
                assert not all(matches), group.name
                for text, match in zip(texts, matches, strict=True):
                    if match:
                        json.loads(text)


def test_two_hundred_texts_for_each_form():
    for name in ("phone", "signature", "email"):
        cases = [case for _, drawn in EXERCISES["grammars"].hidden(Random(1)) for case in drawn if case.args[0] == name]
        texts = [text for case in cases for text in case.args[1]]
        found = [re.fullmatch(grammars()[name], text) is not None for text in texts]
        assert len(texts) >= 200
        assert min(found.count(True), found.count(False)) >= 60


def test_cases_travel():
    """Every argument fits on the wire to a sandbox."""
    for item in EXERCISES.values():
        for case in [*item.cases, *(case for _, cases in item.hidden(Random(2)) for case in cases)]:
            assert isinstance(case, Case)
            values.encode([list(case.args), dict(case.kwargs), [list(call) for call in case.calls]])

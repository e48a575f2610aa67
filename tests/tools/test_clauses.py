"""What docstrings promise is tried by cases, and the tool finds what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder import bank
from autograder.items import Build
from tools import clauses
from tools.clauses import Clause

ITEMS = bank.builds()
PROOF = pytest.mark.proof(part="bank")
ZERO = bank.find("05-zero-memory")


def of_item(item: Build, keys: int) -> object:
    """Programs of plain calls are tried with one key in ``make test``; with all keys, and in processes, in ``make
    proof``."""
    alone = keys == 1 and item.grade in clauses.PLAIN
    return pytest.param(item, keys, id=item.id if keys == 1 else f"{item.id}-keys", marks=[] if alone else [PROOF])


@pytest.mark.parametrize(
    ("item", "keys"),
    [
        of_item(item, keys)
        for item in ITEMS
        for keys in ((1, clauses.KEYS) if item.grade in clauses.PLAIN else (clauses.KEYS,))
    ],
)
def test_what_a_docstring_promises_is_tried(item, keys):
    assert clauses.without_case(item, keys) == []


def test_everything_said_is_of_an_item():
    assert set(clauses.said()) <= {item.id for item in ITEMS}


def test_a_clause_is_broken_by_a_program_or_has_a_reason():
    entries = [(item, one) for item, row in clauses.said().items() for one in row]
    wrong = [(item, one.words) for item, one in entries if bool(one.edits or one.program) == bool(one.why)]
    assert wrong == []


def test_a_promise_without_a_clause_and_a_clause_without_a_case_are_found(monkeypatch):
    said: dict[str, tuple[Clause, ...]] = {}
    monkeypatch.setattr(clauses, "said", lambda: said)
    sentences = clauses.promises(ZERO)
    assert sentences
    assert len([one for one in clauses.without_case(ZERO) if one.startswith("no clause for")]) == len(sentences)
    said[ZERO.id] = (Clause(sentences[0], edits=(("return float(", "return 1.0 * float("),)),)
    assert any("can be broken" in one for one in clauses.without_case(ZERO))


def test_an_unknown_item_is_an_error(capsys):
    with pytest.raises(SystemExit) as stopped:
        clauses.main(["--only", "99-none"])
    assert stopped.value.code == 2


def test_what_was_found_is_kept_for_one_item():
    """Kills: an answer that is kept for another item of the same id, and one that is computed twice."""
    asked = []

    @clauses.kept
    def ask(item, key):
        asked.append((item, key))
        return len(asked)

    one, other = ITEMS[0], replace(ITEMS[0])
    assert [ask(one, 0), ask(one, 1), ask(one, 0), ask(other, 0), ask(one, 0)] == [1, 2, 1, 3, 4]

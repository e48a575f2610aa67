"""What docstrings promise is tried by cases, and the tool finds what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder import bank
from autograder.items import Build, Promise
from tools import promises

ITEMS = bank.builds()
PROOF = pytest.mark.proof(part="bank")
ZERO = bank.find("05-zero-memory")


def of_item(item: Build, keys: int) -> object:
    """Programs of plain calls are tried with one key in ``make test``; with all keys, and in processes, in ``make
    proof``."""
    alone = keys == 1 and item.grade in promises.PLAIN
    return pytest.param(item, keys, id=item.id if keys == 1 else f"{item.id}-keys", marks=[] if alone else [PROOF])


@pytest.mark.parametrize(
    ("item", "keys"),
    [
        of_item(item, keys)
        for item in ITEMS
        for keys in ((1, promises.KEYS) if item.grade in promises.PLAIN else (promises.KEYS,))
    ],
)
def test_what_a_docstring_promises_is_tried(item, keys):
    assert promises.without_case(item, keys) == []


def test_a_promise_is_broken_by_a_program_or_has_a_reason():
    entries = [(item.id, promise) for item in ITEMS for promise in item.promises]
    assert [name for name, one in entries if bool(one.changes or one.program) == bool(one.why)] == []


def test_a_promise_that_is_not_listed_and_one_without_a_case_are_found():
    sentences = promises.sentences(ZERO)
    assert sentences
    silent = replace(ZERO, promises=())
    assert len([one for one in promises.without_case(silent) if one.startswith("no promise for")]) == len(sentences)
    harmless = Promise(sentences[0], edit=("return float(", "return 1.0 * float("))
    assert any("can be broken" in one for one in promises.without_case(replace(ZERO, promises=(harmless,))))


@pytest.mark.parametrize("others", [[], [ZERO.id]])
def test_an_unknown_item_is_an_error(monkeypatch, capsys, others):
    """Kills: a name that is misspelt beside a right one, and left out in silence."""
    monkeypatch.setattr(promises, "without_case", lambda item: [])
    with pytest.raises(SystemExit) as stopped:
        promises.main(["--only", *others, "99-none"])
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith("no item's id is or begins with 99-none\n")


def test_what_was_found_is_kept_for_one_item():
    """Kills: an answer that is kept for another item of the same id, and one that is computed twice."""
    asked = []

    @promises.kept
    def ask(item, key):
        asked.append((item, key))
        return len(asked)

    one, other = ITEMS[0], replace(ITEMS[0])
    assert [ask(one, 0), ask(one, 1), ask(one, 0), ask(other, 0), ask(one, 0)] == [1, 2, 1, 3, 4]

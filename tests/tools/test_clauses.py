"""What docstrings say and what cases try: the four lists are empty, and the tool finds what it is there to find."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from autograder import bank
from autograder.items import Build, Case
from tools import clauses
from tools.clauses import Announced, Clause, Rule, Untried, rule

ITEMS = bank.builds()
PROOF = pytest.mark.proof(part="bank")


def of_item(item: Build, keys: int) -> object:
    """Programs of plain calls are tried with one key in ``make test``; with all keys, and in processes, in ``make
    proof``. The four lists of an item share what its reference answers: one process finds all of them."""
    marks = [pytest.mark.xdist_group(f"clauses {item.id} {keys}")]
    alone = keys == 1 and item.grade in clauses.PLAIN
    return pytest.param(
        item, keys, id=item.id if keys == 1 else f"{item.id}-keys", marks=marks if alone else [*marks, PROOF]
    )


TOGETHER = [
    of_item(item, keys)
    for item in ITEMS
    for keys in ((1, clauses.KEYS) if item.grade in clauses.PLAIN else (clauses.KEYS,))
]
#: The lists that need cases of several keys.
WITH_CASES = [find for find in clauses.LISTS.values() if find is not clauses.not_refused]
RULED = [
    pytest.param(item, id=item.id, marks=pytest.mark.xdist_group(f"clauses {item.id} 1"))
    for item in ITEMS
    if clauses.rules(item.solution())
]


@pytest.fixture
def said(monkeypatch):
    """What ``tests/clauses`` says, to be replaced."""
    entries: dict[str, dict] = {"ANNOUNCED": {}, "CLAUSES": {}, "UNTRIED": {}}
    monkeypatch.setattr(clauses, "said", entries.__getitem__)
    return entries


@pytest.mark.parametrize("find", WITH_CASES, ids=lambda find: find.__name__)
@pytest.mark.parametrize(("item", "keys"), TOGETHER)
def test_a_docstring_says_what_the_cases_try(item, keys, find):
    assert find(item, keys) == []


@pytest.mark.parametrize("item", RULED)
def test_what_the_rule_of_an_argument_excludes_is_refused_and_named(item):
    """The plain refusals of the whole course: ``tests/solutions`` tries only what no such rule states."""
    assert clauses.not_refused(item) == []


def test_everything_said_is_of_an_item():
    names = {item.id for item in ITEMS}
    for kind in ("ANNOUNCED", "CLAUSES", "UNTRIED"):
        assert set(clauses.said(kind)) <= names


def test_a_clause_is_broken_by_a_program_or_has_a_reason():
    entries = [(item, one) for item, row in clauses.said("CLAUSES").items() for one in row]
    wrong = [(item, one.words) for item, one in entries if bool(one.edits or one.program) == bool(one.why)]
    assert wrong == []


@pytest.mark.parametrize(
    ("annotation", "text", "right", "wrong"),
    [
        ("int", "ranks; at least 1.", [1, 8], [0, 2.5, 8.0, True]),
        ("float", "seconds; not negative.", [0, 0.0, 2.5, 3], [-1e-9, math.nan, math.inf]),
        ("float", "of a link; positive.", [1e-9], [0, -1.0, math.inf]),
        ("float", "not negative; infinite where it never ends.", [math.inf, 1.0], [-1.0]),
        ("float", "a share, from 0 to 1.", [0, 1, 0.5], [1.001, -0.1]),
        ("float", "above 0 and at most 1.", [1, 0.1], [0, 1.1]),
        ("int", "the integer 0, 1, 2 or 3.", [0, 3], [4, True, 1.0]),
        ("Sequence[float]", "each not negative.", [[], [0.0, 1]], [[1.0, -1.0], [math.nan]]),
        ("Mapping[str, int]", "each at least 1.", [{"a": 1}], [{"a": 0}, {"a": 1.5}]),
        ("int | None", "at least 1; None is all.", [None, 2], [0]),
        ("str", '``"young"`` or ``"daly"``.', ["daly"], ["exact", ""]),
    ],
)
def test_the_rule_of_an_argument_is_read(annotation, text, right, wrong):
    read = rule(annotation, text)
    assert [value for value in right if read.breaks(value)] == []
    assert [value for value in wrong if not read.breaks(value)] == []
    assert all(read.breaks([one] if read.each else one) for one in read.outside())


@pytest.mark.parametrize(
    ("annotation", "text"), [("float", "what is added."), ("torch.Tensor", "positive."), ("Case", "at least 1.")]
)
def test_where_nothing_is_said_there_is_no_rule(annotation, text):
    assert rule(annotation, text) is None


def test_lines_of_arguments_are_read_whole():
    doc = (
        "Do it.\n\nArgs:\n    one, two: first line\n        and second; positive.\n    three: last.\n\nReturns:\n    x"
    )
    assert clauses.arguments(doc) == {
        "one": "first line and second; positive.",
        "two": "first line and second; positive.",
        "three": "last.",
    }


def function_of(item, function):
    """An item whose reference is another function of the same name."""
    other = replace(item)
    object.__setattr__(other, "solution", lambda: function)
    return other


ZERO = bank.find("05-zero-memory")


def test_a_refusal_that_is_not_announced_is_found(said):
    """Kills: a tool that reads any docstring as announcing everything."""
    text = inspect.getdoc(ZERO.solution()).replace("; not negative", "")

    def zero_memory(
        params: float,
        stage: int,
        ranks: int,
        weight_bytes: float = 2.0,
        gradient_bytes: float = 2.0,
        optimizer_bytes: float = 12.0,
    ) -> float:
        return ZERO.solution()(params, stage, ranks, weight_bytes, gradient_bytes, optimizer_bytes)

    zero_memory.__doc__ = text
    found = clauses.not_announced(function_of(ZERO, zero_memory))
    assert any("params" in sentence for sentence in found)
    said["ANNOUNCED"][ZERO.id] = (Announced("params must", "no such words"),)
    assert any("is not in the docstring" in one for one in clauses.not_announced(function_of(ZERO, zero_memory)))


def test_what_is_accepted_against_the_rule_is_found(said):
    def zero_memory(
        params: float,
        stage: int,
        ranks: int,
        weight_bytes: float = 2.0,
        gradient_bytes: float = 2.0,
        optimizer_bytes: float = 12.0,
    ) -> float:
        return float(params)

    zero_memory.__doc__ = inspect.getdoc(ZERO.solution())
    found = clauses.not_refused(function_of(ZERO, zero_memory))
    assert {one.partition("=")[0] for one in found} >= {"params", "stage", "ranks"}


def test_a_refusal_that_names_neither_the_argument_nor_the_value_is_found():
    """Kills: a check of another argument that refuses by chance, and a message of which nobody learns what to mend."""

    def zero_memory(
        params: float,
        stage: int,
        ranks: int,
        weight_bytes: float = 2.0,
        gradient_bytes: float = 2.0,
        optimizer_bytes: float = 12.0,
    ) -> float:
        raise ValueError("params must be finite and not negative, got nan")

    zero_memory.__doc__ = inspect.getdoc(ZERO.solution())
    found = clauses.not_refused(function_of(ZERO, zero_memory))
    assert not any(one.startswith("params=nan") for one in found)
    assert {one.partition("=")[0] for one in found if "is not named" in one} >= {"params", "stage", "ranks"}


def test_the_last_part_of_a_sequence_or_a_mapping_is_replaced():
    """Kills: a value that is put first, where also a check of the first part alone finds it."""

    def total(parts: Sequence[float], weights: Mapping[str, float], extra: Sequence[float] | None = None) -> float:
        """Add.

        Args:
            parts: each not negative.
            weights: each not negative.
            extra: each not negative.

        Raises:
            ValueError: something is negative.
        """
        if parts[0] < 0 or next(iter(weights.values())) < 0:
            raise ValueError
        return 0.0

    case = Case(([1.0, 2.0], {"a": 1.0, "b": 2.0}))
    item = function_of(ZERO, total)
    assert clauses._with(item, case, "parts", -1.0).args[0] == [1.0, -1.0]
    assert clauses._with(item, case, "weights", -1.0).args[1] == {"a": 1.0, "b": -1.0}
    assert clauses._with(item, case, "extra", -1.0) is None


def test_a_promise_without_a_clause_and_a_clause_without_a_case_are_found(said):
    sentences = clauses.promises(ZERO)
    assert sentences
    assert len([one for one in clauses.without_case(ZERO) if one.startswith("no clause for")]) == len(sentences)
    said["CLAUSES"][ZERO.id] = (Clause(sentences[0], edits=(("return float(", "return 1.0 * float("),)),)
    assert any("can be broken" in one for one in clauses.without_case(ZERO))


def test_a_reason_that_is_not_needed_is_found(said):
    said["UNTRIED"][ZERO.id] = (Untried("ranks", "no reason"),)
    assert "ranks: the reason is not needed" in clauses.not_tried(ZERO)


def test_an_unknown_item_is_an_error(capsys):
    with pytest.raises(SystemExit) as stopped:
        clauses.main(["--only", "99-none"])
    assert stopped.value.code == 2


def test_a_rule_names_values_outside():
    assert Rule("count", low=1).outside() == [2.5, 2.0, True, "1", 0]
    assert Rule("count", one_of=(0, 1, 2, 3)).outside()[-2:] == [-1, 4]
    assert Rule("amount", low=0, low_open=True, high=1).outside()[1:] == [math.inf, -math.inf, 0, 1.001]
    assert Rule("name", ("young", "daly")).outside() == ["", "youngs", "YOUNG"]


def test_what_was_found_is_kept_for_one_item():
    """Kills: an answer that is kept for another item of the same id, and one that is computed twice."""
    asked = []

    @clauses.kept
    def ask(item, key):
        asked.append((item, key))
        return len(asked)

    one, other = ITEMS[0], replace(ITEMS[0])
    assert [ask(one, 0), ask(one, 1), ask(one, 0), ask(other, 0), ask(one, 0)] == [1, 2, 1, 3, 4]

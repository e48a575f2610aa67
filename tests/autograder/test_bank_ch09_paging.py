"""The bank of paged memory and prefix reuse: hidden cases that no wrong program passes, whatever the key."""

from __future__ import annotations

import inspect
from random import Random

import pytest

from autograder import compare, trusted
from autograder.bank import ch09_blocks, ch09_radix
from autograder.items import Build, Debug
from solutions.block_manager import OutOfBlocks

ITEMS: tuple[Build, ...] = (*ch09_blocks.ITEMS, *ch09_radix.ITEMS)
SLIPS = [(item, slip) for item in ITEMS for slip in item.slips]


def named(value) -> str | None:
    return value.program.__name__ if hasattr(value, "program") else getattr(value, "id", None)


def answered(item: Build, key: int):
    cases = [case for _, cases in item.hidden(Random(f"key {key}")) for case in cases]
    return cases, trusted.run(item, item.solution(), cases)


@pytest.mark.parametrize("item", ITEMS, ids=named)
def test_the_reference_answers_as_the_cases_say(item):
    for key in range(5):
        for case, outcome in zip(*answered(item, key), strict=True):
            assert (outcome.kind, outcome.error) == (("raised", case.raises) if case.raises else ("value", "")), case


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_no_key_lets_a_slip_pass(item, slip):
    """Two wrong answers at least, so that it can be named."""
    for key in range(5):
        cases, expected = answered(item, key)
        outcomes = trusted.run(item, slip.program, cases)
        faults = [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]
        assert sum(fault is not None for fault in faults) >= 2, key


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_a_slip_is_complete_in_itself(item, slip):
    """Its source alone can be submitted."""
    names: dict[str, object] = {}
    exec(inspect.getsource(slip.program), names)
    assert names[slip.program.__name__].__qualname__ == slip.program.__qualname__  # type: ignore[attr-defined]


def test_hidden_cases_differ_from_key_to_key():
    for item in ITEMS:
        assert answered(item, 1)[0] != answered(item, 2)[0]


def test_a_refusal_is_known_by_the_name_of_its_class():
    case = ch09_blocks.BLOCKS.cases[1]
    (outcome,) = trusted.run(ch09_blocks.BLOCKS, ch09_blocks.BLOCKS.solution(), [case])
    assert ("raises", OutOfBlocks.__name__) in outcome.value


def test_the_debug_exercise_is_wrong_where_blocks_are_shared():
    item = ch09_blocks.FREE
    assert isinstance(item, Debug)
    tables, queue, finished = item.cases[0].args
    assert item.wrong is not None
    assert len(set(item.wrong(tables, queue, finished))) < len(item.wrong(tables, queue, finished))
    assert item.wrong({"a": [1, 2]}, [0], ["a"]) == item.solution()({"a": [1, 2]}, [0], ["a"]) == [0, 2, 1]

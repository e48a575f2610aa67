"""The bank of paged memory and prefix reuse: hidden cases that no wrong program passes, whatever the key."""

from __future__ import annotations

from random import Random

import pytest

from autograder.bank.ch09 import blocks, radix
from autograder.items import Build, Debug, Slip
from autograder.marking import compare, trusted
from solutions.ch09.block_manager import OutOfBlocks
from tests.autograder import handed_in

ITEMS: tuple[Build, ...] = (*blocks.ITEMS, *radix.ITEMS)
SLIPS = [(item, slip) for item in ITEMS for slip in item.slips]


def named(value) -> str | None:
    return value.name if isinstance(value, Slip) else getattr(value, "id", None)


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
        outcomes = trusted.run(item, item.program_of(slip), cases)
        faults = [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]
        assert sum(fault is not None for fault in faults) >= 2, key


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=named)
def test_a_slip_is_complete_in_itself(item, slip):
    """Its source alone can be submitted."""
    names: dict[str, object] = {}
    exec(item.source_of(slip), names)
    assert item.program_of(slip).__name__ in names


def test_hidden_cases_differ_from_key_to_key():
    for item in ITEMS:
        assert answered(item, 1)[0] != answered(item, 2)[0]


def test_a_refusal_is_known_by_the_name_of_its_class():
    case = blocks.BLOCKS.cases[1]
    (outcome,) = trusted.run(blocks.BLOCKS, blocks.BLOCKS.solution(), [case])
    assert ("raises", OutOfBlocks.__name__) in outcome.value


def test_the_debug_exercise_is_wrong_where_blocks_are_shared():
    item = blocks.FREE
    assert isinstance(item, Debug)
    tables, queue, finished = item.cases[0].args
    assert item.wrong is not None
    assert len(set(item.wrong(tables, queue, finished))) < len(item.wrong(tables, queue, finished))
    assert item.wrong({"a": [1, 2]}, [0], ["a"]) == item.solution()({"a": [1, 2]}, [0], ["a"]) == [0, 2, 1]


def test_room_that_just_suffices_is_room():
    """Kills: hints about forks and refusals alone, for a ``can_allocate`` that wants one block too many."""
    mark = handed_in.edited(blocks.BLOCKS, ("tokens) <= len(self._free)", "tokens) < len(self._free)"))
    assert mark.slip == ""
    assert any("`can_allocate` is true where the free blocks just suffice" in sentence for sentence in mark.hidden)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("self._clock += 1", "self._clock += 2"), "`nodes` shows the tree with its times"),
        (("self._created = 0", "self._created = 1"), "`nodes` shows the tree with its times and numbers"),
        (("self._next_handle += 1", "self._next_handle += 2"), "Handles are 0, 1, 2, ..."),
    ],
)
def test_a_match_or_a_lock_that_is_right_is_not_all_that_is_spoken_of(change, sentence):
    """Kills: a hint about what a match finds, for wrong times; one about locks, for wrong handles."""
    mark = handed_in.edited(radix.RADIX, change)
    assert mark.slip == ""
    assert sentence in mark.hidden[0]

"""Groups of bad input: made one wrong argument at a time; and programs that are said to check nothing."""

from __future__ import annotations

from random import Random

import pytest

from autograder import bank
from autograder.bank import refusals
from autograder.marking import trusted

SLIPS = [(item, slip) for item in bank.builds() for slip in item.slips if slip.sentence == refusals.UNCHECKED]


def test_one_argument_is_wrong_at_a_time():
    cases = refusals.each({"ranks": 8, "seconds": 1.5}, {"seconds": (-1.0, 0), "ranks": (True,)})
    assert [case.args for case in cases] == [(8, -1.0), (8, 0), (True, 1.5)]
    assert {case.raises for case in cases} == {"ValueError"}


def test_every_key_tries_all_of_them():
    """Kills: a group that draws some, so that a missing check is found with some keys only."""
    group = refusals.bad_input(lambda rng: refusals.each({"n": rng.randint(1, 9)}, {"n": (0, True)}), "Hint.")
    assert group.count == len(group.corners(Random(5))) == 2


@pytest.mark.parametrize(("item", "slip"), SLIPS, ids=lambda one: getattr(one, "id", ""))
def test_a_program_that_is_said_to_check_nothing_refuses_nothing(item, slip):
    """Kills: the sentence said of a program that refuses some of the bad input and not the rest."""
    cases = [case for _, drawn in item.hidden(Random(0)) for case in drawn if case.raises]
    outcomes = trusted.run(item, item.program_of(slip), cases)
    assert cases
    assert [case for case, outcome in zip(cases, outcomes, strict=True) if outcome.error == "ValueError"] == []

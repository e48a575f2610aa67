"""Chapter 12's bank: the list, answers as the page prints them, and slips that are wrong in the way they say."""

from __future__ import annotations

import math
from random import Random

import pytest

from autograder import bank
from autograder.bank.ch12 import ppo_clip_objective, shared
from solutions.ch12.rl import gae
from tests.wrong_programs import wrong

# The wrong programs give what people print.

STEADY = ((1,) * 3, (50,) * 3, (50,) * 3, (False,) * 3, (False, False, True), 0.98, 0.8)
TWO = ((1,) * 4, (0.5,) * 4, (0.5, 9, 0.5, 2), (0, 1, 0, 0), (0, 0, 0, 1), 0.9, 0.8)


def test_a_cut_off_that_is_treated_as_an_end():
    assert wrong("12-gae", "Truncation does not end")(*STEADY) == pytest.approx([-30.1181, -38.416, -49], rel=1e-5)


def test_a_recursion_over_the_border():
    assert wrong("12-gae", "The recursion runs into")(*TWO)[0] == pytest.approx(2.66095, rel=1e-5)
    assert gae(*TWO)[0] == pytest.approx(1.31)


def test_clipping_without_the_minimum():
    case = bank.find("12-ppo-clip-objective").cases[2]
    assert wrong("12-ppo-clip-objective", "The clipped term was always")(*case.args).objective == pytest.approx(-1.2)


@pytest.mark.parametrize("key", range(5))
def test_buffers_have_ends_of_both_kinds(key):
    """Kills a hidden group in which only one of the masks matters."""
    *_, terminated, truncated, discount, trace = shared.several(Random(key)).args
    assert any(terminated[:-1])
    assert any(cut and not end for cut, end in zip(truncated[:-1], terminated[:-1], strict=True))
    assert 0 < trace < discount < 1


@pytest.mark.parametrize("key", range(5))
def test_samples_of_all_four_kinds_keep_away_from_the_edges(key):
    new, old, advantages, clip = ppo_clip_objective._samples(Random(key)).args
    ratios = [math.exp(a - b) for a, b in zip(new, old, strict=True)]
    kinds = {(r > 1, a > 0) for r, a in zip(ratios, advantages, strict=True) if abs(r - 1) > clip}
    assert len(kinds) == 4
    assert all(abs(abs(r - 1) - clip) > 1e-6 and 0.19 < r < 5.01 for r in ratios)

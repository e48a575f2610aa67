"""The corrections about constraints: their numbers are computed, and hold."""

from __future__ import annotations

import json

import pytest

from experiments.ch11.mask_corrections import balanced_strings, cut_share, is_balanced, is_json


def test_a_budget_leaves_no_text_cut():
    """The tighter the limit, the more texts are cut; with a budget none is."""
    shares = [cut_share(limit, budget=False) for limit in (15, 20, 25)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] > 0
    assert [cut_share(limit, budget=True) for limit in (15, 20, 25)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("text", "balanced"), [("{}", True), ("[{}]", True), ("[}", False), ("}{", False), ('"', False)]
)
def test_balance(text, balanced):
    assert is_balanced(text) == balanced


def test_balanced_strings_are_mostly_no_json():
    balanced, broken = balanced_strings()
    assert balanced / 2 < broken < balanced
    assert is_balanced("[1 1]")
    assert not is_json("[1 1]")
    assert is_json(json.dumps({"a": [1]}))

"""The corrections about constraints: their numbers are computed, and hold."""

from __future__ import annotations

import json

from experiments.ch11.corrections import cut_share, is_json


def test_a_budget_leaves_no_text_cut():
    """The tighter the limit, the more texts are cut; with a budget none is."""
    shares = [cut_share(limit, budget=False) for limit in (15, 20, 25)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] > 0
    assert [cut_share(limit, budget=True) for limit in (15, 20, 25)] == [0, 0, 0]


def test_what_is_json():
    assert not is_json("[1 1]")
    assert is_json(json.dumps({"a": [1]}))

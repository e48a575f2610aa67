"""Lists of items by where they come from."""

from __future__ import annotations

from autograder import bank
from autograder.bank.lists import CLASSIC, LISTS, ON_ITS_PAGE
from autograder.items import AnyQuestion


def test_lists_name_items_once():
    """Kills an id that is misspelt, and a calculation that is counted twice."""
    known = {item.id for item in bank.items()}
    for one in LISTS:
        assert set(one.ids) <= known
        assert len(set(one.ids)) == len(one.ids)


def test_the_classic_calculations_are_a_sitting():
    """Ten topics, 58 items; most of them numbers, of which a browser checks all functions."""
    assert (len(CLASSIC.topics), len(CLASSIC.ids)) == (10, 58)
    assert {"03-ring-all-reduce-time", "05-zero-memory", "05-dynamic-loss-scale"} < set(CLASSIC.ids)


def test_what_stays_on_its_page_is_a_question():
    assert {item.id for item in bank.items() if isinstance(item, AnyQuestion)} > ON_ITS_PAGE

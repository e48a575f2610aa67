"""Every reference refuses what the words of its docstring exclude, and nothing that they allow."""

from __future__ import annotations

import pytest

from autograder import bank
from tests import ranges

ITEMS = [pytest.param(item, id=item.id) for item in bank.builds()]


@pytest.mark.parametrize("item", ITEMS)
def test_what_the_words_exclude_is_refused_and_nothing_else(item):
    assert ranges.faults(item) == []

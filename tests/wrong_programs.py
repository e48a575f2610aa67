"""The wrong programs of the bank, for tests that look at one of them."""

from __future__ import annotations

from typing import Any

from autograder import bank
from autograder.items import Build


def wrong(identifier: str, words: str) -> Any:
    """The program of the one slip of an exercise whose sentence holds ``words``."""
    item = bank.find(identifier)
    assert isinstance(item, Build)
    (slip,) = (slip for slip in item.slips if words in slip.sentence)
    return item.program_of(slip)

"""When to use what: the tree leads somewhere, and what is printed of ZeRO and of libraries has its source."""

from __future__ import annotations

import re

import pytest

from autograder.sections import SECTIONS
from experiments import choices


def test_the_first_yes_decides():
    """Kills a tree whose later answers count, and one that ends nowhere."""
    for place, question in enumerate(choices.TREE):
        assert choices.decide((False,) * place + (True, True)) == question.then
    assert choices.decide((False,) * len(choices.TREE)) == choices.LAST
    with pytest.raises(ValueError, match="must hold a yes"):
        choices.decide((False,))


def test_sections_are_in_the_book():
    assert {one.section for one in (*choices.TREE, *choices.WAYS)} <= SECTIONS.keys()


def test_stages_of_zero():
    """Rajbhandari et al. (2020), section 7: stages 1 and 2 send as much as plain data parallelism, stage 3 half as much
    again; with accumulation only stage 1 still does."""
    assert [stage.sent(1) for stage in choices.STAGES] == pytest.approx([1, 1, 1, 1.5])
    assert [stage.sent(8) for stage in choices.STAGES] == pytest.approx([1, 1, 4.5, 12])
    assert [stage.held for stage in choices.STAGES] == sorted((stage.held for stage in choices.STAGES), reverse=True)


def test_every_library_says_what_was_read():
    assert all(re.search(r"\d\.\d+|20\d\d", one.read) for one in choices.LIBRARIES)

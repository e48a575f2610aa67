"""Rules of thumb: good within their range, and not outside."""

from __future__ import annotations

import pytest

from autograder.sections import SECTIONS
from experiments.rules_of_thumb import BAD, GOOD, RULES, Case


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.topic)
def test_a_rule_has_a_range(rule):
    """Kills a rule that is off where it is said to hold, and a range that rules nothing out."""
    within, beyond = rule.within(), rule.beyond()
    assert within.off <= GOOD
    assert beyond.off >= BAD
    assert rule.shown(beyond.rule) != rule.shown(beyond.course)
    assert rule.section in SECTIONS


def test_the_factor_between_two_values():
    assert Case("", 2, 8).off == Case("", 8, 2).off == 4


def test_topics_are_unique():
    assert len({rule.topic for rule in RULES}) == len(RULES)

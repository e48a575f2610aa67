"""Chapter 11's design: judged by a sum over outcomes, held against published speed-ups, with lengths that lose."""

from __future__ import annotations

import pytest

from autograder.bank.ch11.design import QUESTIONS
from autograder.marking import designs
from solutions.ch11 import draft_methods

DESIGN, REASON = QUESTIONS
METHODS = {1: (0.45, 0.1, 5), 2: (0.70, 1.05, 21), 3: (0.80, 1.8, 40)}
#: EAGLE-3 with three drafts in SGLang on an H100, Llama 3.1 8B (arXiv:2503.01840, table 3): batch and speed-up.
PUBLISHED = {2: 1.81, 4: 1.82, 8: 1.62, 16: 1.48, 24: 1.39, 32: 1.32, 48: 1.38, 56: 1.34, 64: 1.38}


def milliseconds(method: int, drafts: int, answers: int) -> float:
    """Between two tokens of an answer: a round over the tokens that it writes, outcome by outcome."""
    alpha, each, answer = METHODS.get(method, (0.0, 0.0, 0.0))
    k = drafts if method else 0
    outcomes = [(alpha**right * (1 - alpha), right + 1) for right in range(k)] + [(alpha**k, k + 1)]
    assert sum(chance for chance, _ in outcomes) == pytest.approx(1)
    positions = answers * (k + 1)
    multiply, weights = 2 * 8_030_261_248 * positions / (0.7 * 989.4e12), 16_060_522_496 / (0.8 * 3.35e12)
    caches = 131_072 * 1500 * answers / (0.8 * 3.35e12)
    took = 0.3 + 1e3 * (max(multiply, weights) + caches) + k * (each + answers * answer / 1e3)
    return took / sum(chance * tokens for chance, tokens in outcomes)


def test_every_choice_is_judged_by_its_outcomes():
    plain = milliseconds(0, 0, 128)
    for (method, drafts), made in designs.table(DESIGN).items():
        night, day = (milliseconds(method, drafts, answers) for answers in (2, 128))
        assert made.costs == pytest.approx((night, 1e3 * day / 128))
        assert bool(made.broken) == (day > plain * (1 + 1e-9))


def test_short_by_day_and_long_at_night():
    assert designs.front(DESIGN) == ((2, 3), (2, 2), (2, 1), (1, 1))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((2, 8), "64% of them write no token"),
        ((1, 6), "74% of them write no token"),
        ((3, 3), designs.BEATEN),
        ((0, 4), designs.BEATEN),
    ],
)
def test_what_loses_is_told_why(values, words):
    right, said = designs.judged(DESIGN, values)
    assert not right
    assert words in said


def test_the_head_is_as_fast_as_published():
    """Nine batches, within 10 percent; and one answer without drafts at the published 158 tokens per second."""
    for batch, speed in PUBLISHED.items():
        plain, round_ = (draft_methods.token_seconds(way, 3, batch, 400) for way in (None, draft_methods.EAGLE))
        assert plain / round_ == pytest.approx(speed, rel=0.1)
    assert 1 / draft_methods.pass_seconds(1, 1, 400) == pytest.approx(158.34, rel=0.01)


def test_why_eight_drafts_cost_more_by_day():
    """At night the target's pass is as long as a plain one; by day it is four times as long."""
    night, day = (
        draft_methods.pass_seconds(answers, 9) / draft_methods.pass_seconds(answers, 1) for answers in (2, 128)
    )
    assert night == 1
    assert day > 1.5
    free = 16_060_522_496 / (0.8 * 3.35e12) * 0.7 * 989.4e12 / 2 / 8_030_261_248
    assert 250 < free < 270
    assert "multiply longer" in REASON.options[REASON.correct]

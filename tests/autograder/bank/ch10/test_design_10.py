"""Chapter 10's design: judged as a second model judges it, with designs that lose to each promise."""

from __future__ import annotations

import pytest

from autograder.bank.ch10.design import QUESTIONS
from autograder.marking import designs
from tests.solutions.plain_serving import KV, PARAMETERS, balance, pass_ms

DESIGN, REASON = QUESTIONS


def by_hand(gpus: int, replicas: int, budget: int, weights: int) -> tuple[bool, float]:
    """Whether a choice keeps both promises, and its full pass, ms."""
    room = 0.9 * gpus * 80e9 - weights * PARAMETERS
    if gpus * replicas > 16 or room < 0:
        return False, 0.0
    running, full, busy, first = balance(gpus, weights, budget, 6 / replicas, 2000, 300)
    if busy >= 1:
        return False, 0.0
    caches = KV * (running * (2000 + 150) + 2000)
    return caches <= room and first <= 1.5 and full <= 50, full


def test_every_choice_is_judged_by_the_formulas():
    for values, made in designs.table(DESIGN).items():
        kept, full = by_hand(*values)
        assert bool(made.broken) != kept, values
        if kept:
            assert made.costs == pytest.approx((values[0] * values[1], full), rel=1e-5)


def test_several_are_right_and_most_are_not():
    """Five sizes of the cluster, two budgets; kills a design in which more GPUs or a larger budget always win."""
    best = designs.front(DESIGN)
    assert best == ((2, 2, 256, 1), (2, 3, 128, 1), (4, 2, 128, 1), (4, 3, 128, 1), (8, 2, 128, 1))
    assert len(designs.table(DESIGN)) == 160
    assert len(designs.buildable(DESIGN)) > 4 * len(best)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((8, 3, 256, 1), "you have 16"),
        ((1, 4, 256, 2), "may use 72 GB"),
        ((1, 4, 256, 1), "the weights leave 1 GB"),
        ((2, 4, 256, 2), "the weights leave 3 GB"),
        ((8, 1, 256, 1), "prompts pile up"),
        ((4, 1, 512, 1), "you promised 1.5 s"),
        ((4, 2, 2048, 1), "at most 50 ms. The largest part of a pass: the products"),
        ((8, 1, 2048, 1), "at most 50 ms. The largest part of a pass: the all-reduces"),
    ],
)
def test_what_loses_is_told_why(values, words):
    right, said = designs.judged(DESIGN, values)
    assert not right
    assert words in said


def test_the_same_four_gpus():
    """Three times as many bytes in the all-reduces, the products equal, and no budget that keeps both promises."""
    two, four = (balance(2, 1, 256, 3, 2000, 300), balance(4, 1, 512, 6, 2000, 300))
    assert four[1] > 1.2 * two[1]
    assert (2 * 3 / 4 * 512) / (2 * 1 / 2 * 256) == 3
    products = 1e3 * 2 * PARAMETERS * 128 / (0.5 * 1978.9e12)  # the same for a GPU of both
    sent = [pass_ms(gpus, 1, tokens, 0) - products - 4 for gpus, tokens in ((2, 256), (4, 512))]
    assert sent[1] == pytest.approx(3 * sent[0])
    assert sent[1] - sent[0] > 0.8 * (four[1] - two[1])
    assert not any(by_hand(4, 1, budget, 1)[0] for budget in (128, 256, 512, 1024, 2048))
    assert "all-reduces" in REASON.options[REASON.correct]

"""Chapter 9's design: judged as a second model judges it; routing decides what a small cache is worth."""

from __future__ import annotations

import pytest

from autograder.bank.ch09.design import QUESTIONS
from autograder.marking import designs
from tests.solutions.plain_serving import KV, PARAMETERS, balance

DESIGN, REASON = QUESTIONS
PLACES = [1 / place for place in range(1, 301)]


def busiest(gpus: int, routing: int) -> list[float]:
    """Requests of its customers that the busiest replica gets, for one request per second in all."""
    mine = PLACES[:: 8 // gpus] if routing else [one / (8 // gpus) for one in PLACES]
    return [one / sum(PLACES) for one in mine]


def by_hand(gpus: int, routing: int, budget: int, rate: float) -> tuple[int, float, float, float]:
    """Prefixes that fit, a full pass, ms, the share of full passes, and seconds to the first token; all are tried."""
    mine = busiest(gpus, routing)
    room = (0.9 * gpus * 80e9 - PARAMETERS) / KV
    for kept in range(min(len(mine), int(room // 6000)), -1, -1):
        hit = sum(mine[:kept]) / sum(mine)
        running, full, busy, first = balance(gpus, 1, budget, rate * sum(mine), 500, 250, 6000, hit)
        own = 500 + (1 - hit) * 6000
        if kept * 6000 + running * (own + 125) + own <= room:
            return kept, full, busy, first
    raise AssertionError


@pytest.mark.parametrize("gpus", [2, 4, 8])
@pytest.mark.parametrize("routing", [0, 1])
@pytest.mark.parametrize("budget", [256, 1024])
def test_a_choice_is_judged_by_the_formulas(gpus, routing, budget):
    made = designs.table(DESIGN)[gpus, routing, budget]
    kept, full, busy, first = by_hand(gpus, routing, budget, 8)
    assert f"room for {kept} of" in made.told
    holds = busy < 1 and first <= 0.5 and full <= 60
    assert bool(made.broken) != holds
    if holds:
        most = 8 / made.costs[1]
        assert made.costs[0] == pytest.approx(full, rel=1e-5)
        for rate, good in ((most, True), (most + 0.25, False)):
            _, full, busy, first = by_hand(gpus, routing, budget, rate)
            assert (busy < 1 and first <= 0.5 and full <= 60) == good


def test_several_are_right():
    """One replica of eight or two of four, with two budgets; with one replica, routing makes no difference."""
    expected = {(8, 0, 256), (8, 1, 256), (8, 0, 512), (8, 1, 512), (4, 1, 256), (4, 1, 512)}
    assert set(designs.front(DESIGN)) == expected


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((2, 0, 128), "prompts pile up"),
        ((2, 0, 512), "you promised 0.5 s"),
        ((4, 1, 128), "you promised 0.5 s"),
        ((4, 1, 1024), "at most 60 ms. The largest part of a full pass: the products"),
        ((4, 0, 512), designs.BEATEN),
        ((2, 1, 256), designs.BEATEN),
    ],
)
def test_what_loses_is_told_why(values, words):
    right, said = designs.judged(DESIGN, values)
    assert not right
    assert words in said


def test_why_routing_by_customer_finds_more():
    """Nearly as many prefixes in each cache, and other ones in each; the busiest replica has more to do, not less."""
    anywhere, routed = by_hand(2, 0, 256, 8)[0], by_hand(2, 1, 256, 8)[0]
    assert abs(anywhere - routed) <= 4
    assert sum(busiest(2, 1)) > 1.3 * sum(busiest(2, 0))
    hits = [sum(busiest(2, way)[:kept]) / sum(busiest(2, way)) for way, kept in ((0, anywhere), (1, routed))]
    assert hits[0] < 0.65
    assert hits[1] > 0.89
    assert "keeps others" in REASON.options[REASON.correct]

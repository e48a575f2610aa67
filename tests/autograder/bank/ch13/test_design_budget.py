"""Chapter 13's design of a budget: judged by the rows of the file, of which a part is run again."""

from __future__ import annotations

import json
from math import log
from pathlib import Path

import pytest

from autograder.bank.ch13.design_budget import QUESTIONS
from autograder.marking import designs
from experiments.ch13 import budget_runs
from rankzero import stored as tables
from solutions.ch13 import best_served

DESIGN, REASON = QUESTIONS
ROWS = json.loads(Path(best_served.STORED).read_text(encoding="utf-8"))["rows"]


def worse(beta: float, iterations: int, n: int) -> list:
    """The row of the run that the judge likes less."""
    return min((row for row in ROWS if (row[0], row[2], row[3]) == (beta, iterations, n)), key=lambda row: row[5])


def test_every_choice_is_judged_by_its_rows():
    for (price, iterations, n), made in designs.table(DESIGN).items():
        *_, gold, ratio = worse(price / 100, iterations, n)
        far = ratio + log(n) - (n - 1) / n > 10
        assert bool(made.broken) == (far or gold <= worse(0.0, 0, 1)[5])
        if not made.broken:
            assert made.costs == pytest.approx((0.064 * iterations + n, 2 - gold))


def test_several_are_right():
    """Longer runs at higher prices, and best of four in the end; kills a card on which one price wins."""
    front = designs.front(DESIGN)
    assert {values[1:] for values in front} == {(2, 1), (5, 1), (10, 1), (20, 1), (40, 1), (10, 4)}
    assert {values[0] for values in front} == {0, 10, 20, 50}
    assert len(designs.buildable(DESIGN)) > 5 * len(front)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0, 40, 1), "beyond 10 nats"),
        ((20, 0, 1), "no better than the reference's"),
        ((0, 10, 1), designs.BEATEN),
        ((0, 0, 16), designs.BEATEN),
        ((50, 40, 1), designs.BEATEN),
        ((20, 40, 16), designs.BEATEN),
    ],
)
def test_what_loses_is_told_why(values, words):
    right, said = designs.judged(DESIGN, values)
    assert not right
    assert words in said


def test_what_the_card_says_of_sixteen():
    """Lower by the judge than best of four, higher by the score, from five iterations on and with any price."""
    for beta in best_served.BETAS[1:]:
        for iterations in best_served.ITERATIONS[2:]:
            four, sixteen = worse(beta, iterations, 4), worse(beta, iterations, 16)
            assert sixteen[5] < four[5]
            assert sixteen[4] > four[4]


def test_what_the_price_and_few_iterations_have_in_common():
    """Few nats, and a judge that agrees; many nats and a higher score without either."""
    early, priced, free = worse(0.0, 5, 1), worse(0.1, 20, 1), worse(0.0, 20, 1)
    assert max(early[6], priced[6]) < 4 < 10 < free[6]
    assert min(early[5], priced[5]) > 1.3 > 0.5 > free[5]
    assert free[4] > max(early[4], priced[4])
    assert "near the reference" in REASON.options[REASON.correct]


def test_every_policy_is_there():
    wanted = {
        (beta, seed, iteration, n)
        for beta in best_served.BETAS
        for seed in best_served.SEEDS
        for iteration in best_served.ITERATIONS
        for n in best_served.COUNTS
    }
    assert set(best_served.POLICIES) == wanted
    assert len(ROWS) == len(wanted) == 180


def test_the_file_is_what_the_program_writes(tmp_path):
    """Kills a file that was edited by hand, and a program that writes another form than the card reads."""
    budget_runs.store(tables.read(best_served.STORED), tmp_path / "best.json")
    assert (tmp_path / "best.json").read_bytes() == best_served.STORED.read_bytes()


@pytest.mark.proof(part="runs")
@pytest.mark.xdist_group("rlhf runs")
def test_a_stored_part_is_found_again():
    """Digits differ between machines; what a few iterations are worth does not."""
    for beta, seed, iteration, n, score, gold, ratio in budget_runs.swept((0.1,), (2,), (0, 5)):
        kept = best_served.POLICIES[beta, seed, iteration, n]
        assert score == pytest.approx(kept.score, abs=0.2)
        assert gold == pytest.approx(kept.gold, abs=0.2)
        assert ratio == pytest.approx(kept.ratio, abs=0.6)

"""Chapter 14's design of a lag: judged by the rows of the file and by the other simulation of the pools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.bank.ch14.design_lag import QUESTIONS
from autograder.marking import designs
from solutions.ch14 import lagged_runs
from solutions.ch14 import placed_job as job
from tests.autograder.bank.ch14.test_design_place import pools, training, travelling, written_alone

DESIGN, REASON = QUESTIONS
ROWS = json.loads(Path(lagged_runs.STORED).read_text(encoding="utf-8"))["rows"]
NAMES = ("none", "behaviour", "decoupled")
STEP = training(32, 1) + travelling(32, 1, 2)


def hours(bound: int) -> float:
    """Of 60 updates: in turn on all GPUs, one batch ahead by simulation, and as fast as the trainer from two on."""
    if bound == 0:
        return (written_alone(64) + training(64, 1) + travelling(0, 1, 2)) / 60
    if bound == 1:
        return pools(job.simulated(job.Plan(32, 1, job.PAIRS, job.SLICES)).token, STEP, 1)[0] / 60
    return STEP / 60


@pytest.mark.parametrize("bound", [0, 1, 4, 16])
def test_every_choice_is_judged_by_its_rows(bound):
    for number, name in enumerate(NAMES):
        made = designs.table(DESIGN)[bound, number]
        worst = min(row[3] for row in ROWS if row[:2] == [bound, name if bound else "none"])
        assert made.costs == pytest.approx((hours(bound), 2 - worst), rel=0.02)
        assert bool(made.broken) == (worst < 1)


def test_several_are_right():
    assert set(designs.front(DESIGN)) == {(0, 0), (0, 1), (0, 2), (1, 1), (4, 2)}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((16, 0), "But every run has to end with 1 at least"),
        ((16, 2), "But every run has to end with 1 at least"),
        ((16, 1), designs.BEATEN),
        ((1, 2), designs.BEATEN),
        ((4, 0), designs.BEATEN),
    ],
)
def test_what_loses_is_told_why(values, words):
    right, said = designs.judged(DESIGN, values)
    assert not right
    assert words in said


def test_what_three_seeds_say():
    """At four versions all of them agree on the order; at one, a single run makes decoupled the last."""
    four = [[end.judge for end in lagged_runs.ends(4, name)] for name in NAMES]
    assert all(none < behaviour < decoupled for none, behaviour, decoupled in zip(*four, strict=True))
    one = sorted(end.judge for end in lagged_runs.ends(1, "decoupled"))
    others = [end.judge for name in NAMES[:2] for end in lagged_runs.ends(1, name)]
    assert one[0] == pytest.approx(1.69, abs=0.005)
    assert one[0] < min(others) - 0.1
    assert one[1] > min(others)


def test_why_sixteen_is_no_faster_than_four():
    """The trainer never waits, and fewer than half of the slots are taken."""
    for bound in (2, 4, 16):
        found = job.simulated(job.Plan(32, bound, job.PAIRS, job.SLICES))
        assert found.seconds == pytest.approx(found.train + found.move, rel=1e-6)
        assert job.needed(found.token, found.seconds) < job.ANSWERS / 2
        assert found.move < 0.5
    assert "trainer already works all the time" in REASON.options[REASON.correct]

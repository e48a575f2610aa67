"""What chapter 13's corrections rest on."""

from __future__ import annotations

import math

import pytest

from experiments.ch13.corrections import best_of_n_divergence
from solutions.ch13.beta_sweep import run_of


def test_the_run_without_a_price_ends_worse():
    """What the correction on the clip is about."""
    assert run_of(0.0, 2).end.score > run_of(0.1, 2).end.score
    assert run_of(0.0, 2).end.judge < run_of(0.1, 2).end.judge


@pytest.mark.parametrize("n", [2, 16, 256])
def test_best_of_n_stays_below_its_bound(n):
    """Over more and rarer outcomes it comes close."""
    bound = math.log(n) - (n - 1) / n
    few, many = (best_of_n_divergence((1 / size,) * size, n) for size in (4, 20_000))
    assert few < many < bound
    assert many == pytest.approx(bound, abs=2e-2)

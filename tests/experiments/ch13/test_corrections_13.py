"""What chapter 13's corrections rest on."""

from __future__ import annotations

import math

import pytest

from experiments.ch13.corrections import best_of_n_divergence


@pytest.mark.parametrize("n", [2, 16, 256])
def test_best_of_n_stays_below_its_bound(n):
    """Over more and rarer outcomes it comes close."""
    bound = math.log(n) - (n - 1) / n
    few, many = (best_of_n_divergence((1 / size,) * size, n) for size in (4, 20_000))
    assert few < many < bound
    assert many == pytest.approx(bound, abs=2e-2)

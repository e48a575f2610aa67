"""The loss along a budget: the closed minimum against a search, and against published figures."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from experiments.ch01.token_budgets import best_split, fitted_loss, loss_along_budget
from rankzero.facts.scaling_laws import BESIROGLU, FITS, HOFFMANN, HOFFMANN_UNROUNDED
from solutions.ch01.scale import compute_optimal

fits = st.sampled_from(FITS)
budgets = st.floats(1e18, 1e27)


def searched(fit, flops: float) -> float:
    """The best number of parameters, found without the derivative."""

    def loss(power: float) -> float:
        return fitted_loss(fit, math.exp(power), flops / 6 / math.exp(power))

    return math.exp(minimize_scalar(loss, bounds=(math.log(1e5), math.log(1e14)), method="bounded").x)


@given(fits, budgets)
def test_the_minimum_is_where_a_search_finds_it(fit, flops):
    parameters, tokens = best_split(fit, flops)
    assert 6 * parameters * tokens == pytest.approx(flops)
    assert parameters == pytest.approx(searched(fit, flops), rel=1e-3)


def test_the_refit_is_near_twenty_tokens_for_a_parameter():
    """Besiroglu et al. (2024): 18.4 at Chinchilla's budget, within a tenth of compute_optimal with 20."""
    parameters, tokens = best_split(BESIROGLU, 5.76e23)
    assert (parameters, tokens) == pytest.approx((7.22487e10, 1.32874e12), rel=1e-5)
    assert tokens / parameters == pytest.approx(18.3912, rel=1e-5)
    assert parameters == pytest.approx(compute_optimal(5.76e23)[0], rel=0.1)


def test_the_first_fit_asks_for_many_more():
    parameters, tokens = best_split(HOFFMANN, 5.76e23)
    assert tokens / parameters == pytest.approx(92.6, abs=0.1)


def test_more_than_half_of_that_is_rounding():
    """Worked out: G (C / 6)**0.45652 with G = (alpha A / (beta B))**(1 / (alpha + beta)) are 4.036e10 parameters."""
    parameters, tokens = best_split(HOFFMANN_UNROUNDED, 5.76e23)
    assert (parameters, tokens) == pytest.approx((4.0361e10, 2.37854e12), rel=1e-4)
    assert tokens / parameters == pytest.approx(58.93, abs=0.01)


@given(fits, budgets)
def test_the_curve_is_lowest_beside_the_minimum(fit, flops):
    curve = loss_along_budget(fit, flops, 1e-2, 1e5, points=201)
    assert len(curve) == 201
    ratio, lowest = min(curve, key=lambda point: point[1])
    parameters, tokens = best_split(fit, flops)
    assert lowest >= fitted_loss(fit, parameters, tokens) * (1 - 1e-12)
    step = (1e5 / 1e-2) ** (1 / 200)
    assert ratio / step < tokens / parameters < ratio * step


@given(fits, budgets)
def test_every_point_costs_the_same(fit, flops):
    for ratio, loss in loss_along_budget(fit, flops, points=5):
        parameters, tokens = compute_optimal(flops, ratio)
        assert loss == pytest.approx(fitted_loss(fit, parameters, tokens))

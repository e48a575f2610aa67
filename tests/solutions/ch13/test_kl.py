"""KL estimates: the page's numbers, exact rational arithmetic, the library's divergences and its differentiation."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch13.kl_autograd import divergence_gradients, placed_gradient
from experiments.ch13.kl_table import gaussian_row, sampled_moments
from solutions.ch13.kl import (
    ESTIMATORS,
    PLACEMENTS,
    estimator_moments,
    expected_kl_gradient,
    kl_estimates,
    tilted_policy,
)

LOGITS, REFERENCE = (0.3, -0.2, 0.5), (0.0, 0.4, -0.1)

log_probs = st.floats(-12, 0)


def law(rng: Random, size: int) -> list[float]:
    weights = [rng.randint(1, 30) for _ in range(size)]
    return [weight / sum(weights) for weight in weights]


# One sample.


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ((-1.2, -1.0), (-0.2, 0.02, 0.0214028)),
        ((-0.8, -1.0), (0.2, 0.02, 0.0187308)),
        ((-2, -1), (-1, 0.5, 0.718282)),
        ((-3, -0.1), (-2.9, 4.205, 14.2741)),
        ((-0.7, -0.7), (0, 0, 0)),
    ],
)
def test_one_sample(arguments, wanted):
    found = kl_estimates(*arguments)
    assert (found.k1, found.k2, found.k3) == pytest.approx(wanted, rel=1e-5)


@given(log_probs, log_probs)
def test_the_estimates_of_a_trainer_library(log_p, log_q):
    """The two formulas that trainers use, in the tensors that they use them on."""
    gap = torch.tensor(log_p, dtype=torch.float64) - torch.tensor(log_q, dtype=torch.float64)
    found = kl_estimates(log_p, log_q)
    assert found.k1 == float(gap)
    assert found.k3 == pytest.approx(float(torch.exp(-gap) - 1 + gap), rel=1e-9, abs=1e-14)
    assert found.k2 >= 0
    assert found.k3 >= 0


@pytest.mark.parametrize("gap", [1e-10, -1e-9, 1e-8, -1e-6])
def test_tiny_gaps_keep_their_digits(gap):
    """Kills exp(-d) - 1 + d, which is 0 or noise there. The oracle is exact: d^2/2 - d^3/6 in fractions."""
    log_p = -1.0
    d = Fraction(log_p) - Fraction(log_p - gap)
    wanted = d * d / 2 - d**3 / 6 + d**4 / 24
    assert kl_estimates(log_p, log_p - gap).k3 == pytest.approx(float(wanted), rel=1e-5)


# Moments.


@pytest.mark.parametrize(
    ("p", "q", "wanted"),
    [
        (
            (0.5, 0.3, 0.2),
            (0.4, 0.4, 0.2),
            ((0.0252672, 0.0490864), (0.0248624, 0.000205482), (0.0252672, 0.000254594)),
        ),
        ((0.5, 0.5), (0.25, 0.75), ((0.143841, 0.301737), (0.161214, 0.00624302), (0.143841, 0.00243110))),
        ((0.9, 0.05, 0.05), (1 / 3,) * 3, ((0.704215, 0.751882), (0.623900, 0.153568), (0.704215, 1.04403))),
        ((0.2, 0.8), (0.2, 0.8), ((0, 0),) * 3),
    ],
)
def test_moments_of_the_page(p, q, wanted):
    for name, pair in zip(ESTIMATORS, wanted, strict=True):
        assert estimator_moments(p, q, name) == pytest.approx(pair, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_k1_and_k3_are_unbiased(seed):
    """The mean is the library's divergence."""
    rng = Random(seed)
    p, q = law(rng, 6), law(rng, 6)
    exact = torch.distributions.kl_divergence(*(torch.distributions.Categorical(torch.tensor(row)) for row in (p, q)))
    for name in ("k1", "k3"):
        assert estimator_moments(p, q, name)[0] == pytest.approx(float(exact), rel=1e-5)


def test_outcomes_that_never_come_do_not_count():
    """Then k3 misses what q gives them: e^-d has the mean 1 only where p can reach all that q can."""
    p, q = (0.0, 0.5, 0.5), (0.5, 0.25, 0.25)
    assert estimator_moments(p, q, "k1") == pytest.approx((math.log(2), 0), abs=1e-15)
    assert estimator_moments(p, q, "k3") == pytest.approx((math.log(2) - 0.5, 0), abs=1e-15)


@pytest.mark.parametrize(
    ("distance", "kl", "biases", "spreads"),
    [(0.1, 0.005, (0, 0.002, 0), (20, 1.42, 1.42)), (1.0, 0.5, (0, 0.25, 0), (2, 1.73, 1.7))],
)
def test_the_published_table(distance, kl, biases, spreads):
    """Schulman (2020): bias and standard deviation over the true KL, as printed there."""
    row = gaussian_row(distance)
    assert row.kl == pytest.approx(kl)
    for name, bias, spread in zip(ESTIMATORS, biases, spreads, strict=True):
        assert row.bias[name] == pytest.approx(bias, abs=1e-3)
        assert row.spread[name] == pytest.approx(spread, abs=6e-3)


def test_samples_agree_with_the_enumeration():
    p, q = (0.5, 0.3, 0.2), (0.4, 0.4, 0.2)
    found = sampled_moments(p, q, 100_000, seed=3)
    for name in ESTIMATORS:
        mean, variance = estimator_moments(p, q, name)
        assert found[name][0] == pytest.approx(mean, abs=5 * math.sqrt(variance / 100_000))
        assert found[name][1] == pytest.approx(variance, rel=0.05)


# Where it is put.


def test_the_gradients_of_the_page():
    reverse = (0.0224399, -0.179420, 0.156980)
    assert expected_kl_gradient(LOGITS, REFERENCE, "k1", "reward") == pytest.approx(reverse, rel=1e-5)
    assert expected_kl_gradient(LOGITS, REFERENCE, "k2", "loss") == pytest.approx(reverse, rel=1e-5)
    assert expected_kl_gradient(LOGITS, REFERENCE, "k1", "loss") == [0, 0, 0]
    forward = (0.0592084, -0.224725, 0.165516)
    assert expected_kl_gradient(LOGITS, REFERENCE, "k3", "loss") == pytest.approx(forward, rel=1e-5)
    neither = (-0.0367685, 0.0453047, -0.00853617)
    assert expected_kl_gradient(LOGITS, REFERENCE, "k3", "reward") == pytest.approx(neither, rel=1e-5)


logits = st.lists(st.floats(-2, 2), min_size=2, max_size=8)


@given(logits, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_every_placement_against_the_librarys_differentiation(policy, rng):
    reference = [rng.uniform(-2, 2) for _ in policy]
    for placement in PLACEMENTS:
        for name in ESTIMATORS:
            found = expected_kl_gradient(policy, reference, name, placement)
            assert found == pytest.approx(placed_gradient(policy, reference, name, placement), abs=1e-12)
            assert sum(found) == pytest.approx(0, abs=1e-12)
    both = divergence_gradients(policy, reference)
    reverse, forward = both["KL(policy||reference)"], both["KL(reference||policy)"]
    assert expected_kl_gradient(policy, reference, "k1", "reward") == pytest.approx(reverse, abs=1e-12)
    assert expected_kl_gradient(policy, reference, "k2", "loss") == pytest.approx(reverse, abs=1e-12)
    assert expected_kl_gradient(policy, reference, "k3", "loss") == pytest.approx(forward, abs=1e-12)


def test_sampled_programs_have_these_gradients_on_average():
    """A million draws, differentiated in one go by the library."""
    torch.manual_seed(0)
    policy = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    reference = torch.tensor(REFERENCE, dtype=torch.float64).log_softmax(-1)
    drawn = torch.multinomial(policy.detach().softmax(-1), 1_000_000, replacement=True)
    log_p = policy.log_softmax(-1)[drawn]
    gap = log_p - reference[drawn]
    for name, estimate in {"k1": gap, "k2": gap**2 / 2, "k3": torch.expm1(-gap) + gap}.items():
        for placement, term in {"loss": estimate, "reward": estimate.detach() * log_p}.items():
            (found,) = torch.autograd.grad(term.mean(), policy, retain_graph=True)
            wanted = expected_kl_gradient(LOGITS, REFERENCE, name, placement)
            assert found.tolist() == pytest.approx(wanted, abs=5e-3)


# The optimum.


@pytest.mark.parametrize(
    ("beta", "wanted"),
    [
        (0.5, (0.0724941, 0.267832, 0.659674)),
        (1, (0.278501, 0.378522, 0.342977)),
        (10, (0.569427, 0.314657, 0.115917)),
        (0.001, (0, 0, 1)),
    ],
)
def test_tilted_policies_of_the_page(beta, wanted):
    assert tilted_policy((0.6, 0.3, 0.1), (0, 1, 2), beta) == pytest.approx(wanted, rel=1e-5, abs=1e-12)


def objective(policy, reference, rewards, beta: float) -> float:
    gain = sum(a * r for a, r in zip(policy, rewards, strict=True))
    return gain - beta * sum(a * math.log(a / b) for a, b in zip(policy, reference, strict=True) if a > 0)


@pytest.mark.parametrize("seed", range(4))
def test_no_other_policy_is_better(seed):
    """Gradient ascent of the library on the objective ends there, and there it is worth beta log Z."""
    rng = Random(seed)
    reference, rewards, beta = law(rng, 5), [rng.uniform(-2, 2) for _ in range(5)], rng.uniform(0.3, 2)
    best = tilted_policy(reference, rewards, beta)
    z = sum(share * math.exp(reward / beta) for share, reward in zip(reference, rewards, strict=True))
    assert objective(best, reference, rewards, beta) == pytest.approx(beta * math.log(z), rel=1e-12)
    free = torch.zeros(5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([free], max_iter=200, tolerance_grad=1e-12, line_search_fn="strong_wolfe")
    base, gains = torch.tensor(reference, dtype=torch.float64), torch.tensor(rewards, dtype=torch.float64)

    def closure():
        optimizer.zero_grad()
        policy = free.softmax(-1)
        loss = beta * (policy * (policy / base).log()).sum() - (policy * gains).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert free.softmax(-1).tolist() == pytest.approx(best, abs=1e-4)


def test_a_high_price_keeps_the_reference_and_extremes_do_not_overflow():
    reference = (0.6, 0.3, 0.1)
    assert tilted_policy(reference, (0, 1, 2), 1e9) == pytest.approx(reference, rel=1e-6)
    assert tilted_policy((0.5, 0.5, 0.0), (1e6, 1e6, 1e9), 1e-6) == pytest.approx((0.5, 0.5, 0))

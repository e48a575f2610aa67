"""Importance weights against exact expectations and torch; the effective sample size against its laws."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch

from solutions.ch14.off_policy import effective_sample_size, importance_weights

NEW, OLD = (-1.0, -2.0, -0.5), (-1.5, -1.0, -0.5)


def test_the_figures_of_the_page():
    assert importance_weights(NEW, OLD) == pytest.approx([1.6487213, 0.36787944, 1])
    assert importance_weights(NEW, OLD, 1.5) == pytest.approx([1.5, 0.36787944, 1])
    assert importance_weights(NEW, OLD, 1.5, "mask") == pytest.approx([0, 0.36787944, 1])
    assert importance_weights(NEW, OLD, level="sequence") == pytest.approx([0.60653066] * 3)
    assert effective_sample_size(importance_weights(NEW, OLD)) == pytest.approx(2.361387, rel=1e-6)


def expected(cap: float | None) -> float:
    """An average under (.7, .2, .1) of values 1, 2, 5, from what (.4, .4, .2) says."""
    target, behaviour, values = (0.7, 0.2, 0.1), (0.4, 0.4, 0.2), (1, 2, 5)
    weights = importance_weights([math.log(p) for p in target], [math.log(p) for p in behaviour], cap)
    return math.fsum(b * w * f for b, w, f in zip(behaviour, weights, values, strict=True))


def test_the_exact_expectation():
    assert [expected(cap) for cap in (None, 1.5, 1.0)] == pytest.approx([1.6, 1.5, 1.3])


@pytest.mark.parametrize("seed", range(5))
def test_against_torch(seed):
    generator = torch.Generator().manual_seed(seed)
    new, old = (torch.rand(9, generator=generator, dtype=torch.float64).log() for _ in range(2))
    ratio = (new - old).exp()
    assert importance_weights(new.tolist(), old.tolist(), 1.2) == pytest.approx(ratio.clamp(max=1.2).tolist())
    masked = torch.where(ratio > 1.2, 0.0, ratio)
    assert importance_weights(new.tolist(), old.tolist(), 1.2, "mask") == pytest.approx(masked.tolist())
    whole = ratio.prod().item()
    assert importance_weights(new.tolist(), old.tolist(), level="sequence") == pytest.approx([whole] * 9)


def test_a_cap_that_is_met_is_not_exceeded():
    assert importance_weights((-1.0,), (-1.0,), 1.0, "mask") == [1.0]
    assert importance_weights((), (), 1.0, level="sequence") == []
    assert importance_weights((-0.1,), (-900.0,), 2.0) == [2.0]
    assert importance_weights((-0.1,), (-900.0,), 2.0, "mask") == [0.0]


def test_the_effective_sample_size_lies_between_one_and_all():
    for seed in range(50):
        rng = Random(seed)
        weights = [rng.lognormvariate(0, 1) for _ in range(rng.randint(1, 30))]
        size = effective_sample_size(weights)
        assert 1 - 1e-9 <= size <= len(weights) + 1e-9
        assert effective_sample_size([7e200 * weight for weight in weights]) == pytest.approx(size)
        shares = [weight / sum(weights) for weight in weights]
        assert size == pytest.approx(1 / sum(share * share for share in shares))


def test_the_ends_of_the_effective_sample_size():
    assert effective_sample_size([0.3] * 8) == pytest.approx(8)
    assert effective_sample_size([0.3, 0.0, 0.0]) == 1
    assert effective_sample_size([0.0, 0.0]) == effective_sample_size([]) == 0

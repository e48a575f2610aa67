"""Accumulation by counting, schedules against torch's, noise against a Monte Carlo run, delays against roots."""

from __future__ import annotations

import math

import numpy
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from solutions.ch05.batching import (
    accumulated_step_time,
    accumulation_steps,
    debug_loss,
    delayed_sgd,
    effective_batch,
    gradient_noise_scale,
    largest_stable_rate,
    learning_rate_at,
    scaled_learning_rate,
)

# Accumulation.

counts = st.integers(1, 300)


@given(counts, counts, counts)
def test_the_micro_steps_train_on_the_whole_batch(steps, micro_batch, ranks):
    assert accumulation_steps(steps * micro_batch * ranks, micro_batch, ranks) == steps


@given(counts, counts, counts, st.integers(1, 16))
def test_the_batch_comes_back_from_its_parts(micro_batch, steps, replicas, each):
    """One rank for each replica: the other direction."""
    batch = effective_batch(micro_batch, steps, replicas * each, each)
    assert accumulation_steps(batch, micro_batch, replicas) == steps


def test_batch_of_llama_3():
    """Llama Team (2024), arXiv:2407.21783, table 4: 16,384 GPUs, 8 by 16 to a replica, 16 sequences each: 16M."""
    assert effective_batch(1, 16, 16_384, 8 * 16) * 8192 == 2**24


def test_gpus_that_make_no_replica():
    with pytest.raises(ValueError, match=r"gpus_per_replica must divide gpus = 12, got 8$"):
        effective_batch(4, 64, 12, 8)


@given(st.integers(1, 10_000), counts, counts)
def test_refuses_a_batch_that_leaves_sequences_over(batch, micro_batch, ranks):
    assume(batch % (micro_batch * ranks))
    with pytest.raises(ValueError, match=f"must divide global_batch = {batch}, got {micro_batch * ranks}$"):
        accumulation_steps(batch, micro_batch, ranks)


def test_page_values_of_steps():
    assert [accumulation_steps(*sizes) for sizes in ((2048, 4, 8), (512, 1, 128), (8, 8, 1))] == [64, 4, 1]


def played(micro_steps: int, micro: int, sync: int, update: int, sync_every: bool) -> int:
    """The step, played in whole milliseconds."""
    clock = 0
    for step in range(micro_steps):
        clock += micro
        if sync_every or step == micro_steps - 1:
            clock += sync
    return clock + update


times = st.integers(0, 500)


@given(st.integers(1, 100), times, times, times, st.booleans())
def test_the_time_of_a_step_is_that_of_its_parts(micro_steps, micro, sync, update, sync_every):
    expected = played(micro_steps, micro, sync, update, sync_every)
    assert accumulated_step_time(micro_steps, micro, sync, update, sync_every) == expected


def test_page_values_of_step_time():
    assert accumulated_step_time(64, 0.12, 0.05) == pytest.approx(7.73)
    assert accumulated_step_time(64, 0.12, 0.05, sync_every=True) == pytest.approx(10.88)
    assert accumulated_step_time(64, 0.12, 0.05, 0.001) == pytest.approx(7.731)


# Learning rates.

rates = st.floats(1e-6, 1.0)
batches = st.floats(1, 1e7)
scales = st.floats(1e-2, 1e8)


def test_page_values_of_rates():
    assert scaled_learning_rate(3e-4, 256, 2048, "linear") == pytest.approx(0.0024)
    assert scaled_learning_rate(3e-4, 256, 2048, "sqrt") == pytest.approx(8.48528e-4, rel=1e-5)
    assert scaled_learning_rate(3e-4, 256, 2048, "noise", 256) == pytest.approx(5.33333e-4, rel=1e-5)
    assert scaled_learning_rate(3e-4, 256, 2048, "noise", 2048) == pytest.approx(0.00135)
    assert scaled_learning_rate(0.1, 256, 8192, "linear") == pytest.approx(3.2)  # Goyal et al. (2017)


@given(rates, batches, batches, scales)
def test_the_noise_rule_is_the_curve_through_the_base(base, base_batch, batch, scale):
    maximum = base * (1 + scale / base_batch)
    expected = maximum / (1 + scale / batch)
    assert scaled_learning_rate(base, base_batch, batch, "noise", scale) == pytest.approx(expected)
    assert scaled_learning_rate(base, base_batch, scale, "noise", scale) == pytest.approx(maximum / 2)


@given(rates, batches, batches)
def test_the_limits_of_the_noise_rule_are_the_linear_rule_and_none(base, base_batch, batch):
    linear = scaled_learning_rate(base, base_batch, batch, "linear")
    assert scaled_learning_rate(base, base_batch, batch, "noise", 1e18) == pytest.approx(linear)
    assert scaled_learning_rate(base, base_batch, batch, "noise", 1e-12) == pytest.approx(base)


@given(rates, batches, batches, batches, st.sampled_from(("linear", "sqrt", "noise")), scales)
def test_two_changes_of_batch_are_one(base, first, second, third, rule, scale):
    there = scaled_learning_rate(base, first, second, rule, scale)
    assert scaled_learning_rate(there, second, third, rule, scale) == pytest.approx(
        scaled_learning_rate(base, first, third, rule, scale)
    )


@pytest.mark.parametrize(
    ("peak", "warmup", "total", "share"), [(8e-5, 20, 150, 0.01), (1.0, 2, 9, 0.1), (3e-4, 7, 40, 0)]
)
def test_is_torchs_warm_up_and_cosine_step_by_step(peak, warmup, total, share):
    """Torch counts from 0 and its warm-up ends a step early: LinearLR from 1/W over W - 1 steps."""
    schedule = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=peak)
    theirs = schedule.SequentialLR(
        optimizer,
        [
            schedule.LinearLR(optimizer, 1 / warmup, total_iters=warmup - 1),
            schedule.CosineAnnealingLR(optimizer, total - warmup, eta_min=share * peak),
        ],
        milestones=[warmup - 1],
    )
    seen = []
    for _ in range(total):
        seen.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        theirs.step()
    ours = [learning_rate_at(step, peak, warmup, total, share * peak) for step in range(1, total + 1)]
    assert ours == pytest.approx(seen, rel=1e-9, abs=1e-15)


def test_page_values_of_the_schedule():
    """Llama 3 405B, arXiv:2407.21783, section 3.4."""
    seen = [learning_rate_at(step, 8e-5, 8000, 1_200_000, 8e-7) for step in (1, 4000, 8000, 604_000, 1_200_000)]
    assert seen == pytest.approx([1e-8, 4e-5, 8e-5, 4.04e-5, 8e-7])
    assert learning_rate_at(5, 1.0, 0, 10) == pytest.approx(0.5)
    assert learning_rate_at(11, 1.0, 2, 10, 0.1) == 0.1
    assert learning_rate_at(10, 1.0, 10, 10) == 1.0


@given(st.integers(1, 40), st.integers(1, 200), st.floats(0, 1))
def test_rises_to_the_peak_and_falls_to_the_minimum(warmup, more, share):
    row = [learning_rate_at(step, 1.0, warmup, warmup + more, share) for step in range(1, warmup + more + 2)]
    assert row[warmup - 1] == 1.0 == max(row)
    assert row[:warmup] == sorted(row[:warmup])
    assert row[warmup:] == sorted(row[warmup:], reverse=True)
    assert row[-1] == row[-2] == share


# Noise.


def test_finds_a_known_noise_scale_in_drawn_gradients():
    """Rows drawn with a known mean and variance: the mean of many estimates of S and G, and their ratio."""
    rng = numpy.random.default_rng(5)
    mean = numpy.array([0.5, -0.3, 0.2, 0.0])
    deviation = numpy.array([1.0, 2.0, 0.5, 1.5])
    ranks, rows, trials = 8, 4, 40_000
    own = mean + deviation / math.sqrt(rows) * rng.standard_normal((trials, ranks, 4))
    small = (own**2).sum(-1).mean()
    large = (own.mean(1) ** 2).sum(-1).mean()
    expected = (deviation**2).sum() / (mean**2).sum()
    assert gradient_noise_scale(rows, ranks * rows, small, large) == pytest.approx(expected, rel=0.02)


@given(st.floats(0.01, 100), st.floats(0.01, 1e4), st.integers(1, 100), st.integers(2, 50))
def test_solves_the_two_equations(signal, noise, small, factor):
    large = small * factor
    norms = (signal + noise / small, signal + noise / large)
    assume(noise / large < 1e6 * signal)
    assert gradient_noise_scale(small, large, *norms) == pytest.approx(noise / signal, rel=1e-6)


def test_page_values_of_noise():
    assert gradient_noise_scale(32, 256, 5, 1.5) == pytest.approx(128)
    assert gradient_noise_scale(4, 16, 5, 2) == pytest.approx(16)
    assert gradient_noise_scale(8, 64, 0.04, 0.03) == pytest.approx(3.2)
    assert gradient_noise_scale(4, 16, 2, 2) == 0
    assert gradient_noise_scale(4, 16, 2, 3) == 0
    assert gradient_noise_scale(4, 16, 8, 2) == math.inf
    assert gradient_noise_scale(4, 16, 8, 1) == math.inf


# Delays.


def test_page_values_of_paths():
    assert delayed_sgd(1, 0.5, 1, 6) == [1, 0.5, 0, -0.25, -0.25, -0.125, 0]
    assert delayed_sgd(1, 0.5, 2, 6) == [1, 0.5, 0, -0.5, -0.75, -0.75, -0.5]
    assert delayed_sgd(1, 0.5, 0, 4) == [1, 0.5, 0.25, 0.125, 0.0625]
    assert delayed_sgd(1, 0.5, 3, 0, start=2.0) == [2.0]


@given(st.floats(0.1, 3), st.floats(0, 0.5), st.integers(0, 6), st.integers(0, 30), st.floats(-5, 5))
def test_is_torchs_sgd_with_gradients_that_wait_in_a_queue(curvature, rate, delay, steps, start):
    weight = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimizer = torch.optim.SGD([weight], lr=rate)
    seen, waiting = [weight.item()], []
    for _ in range(steps):
        optimizer.zero_grad()
        (curvature * weight**2 / 2).backward()
        waiting.append(weight.grad.clone())
        weight.grad = waiting.pop(0) if len(waiting) > delay else waiting[0].clone()
        optimizer.step()
        seen.append(weight.item())
    assert delayed_sgd(curvature, rate, delay, steps, start) == pytest.approx(seen, rel=1e-9, abs=1e-12)


def largest_root(rate: float, delay: int) -> float:
    """The largest root, in size, of ``z**(delay + 1) - z**delay + rate``."""
    return max(abs(numpy.roots([1.0, -1.0, *[0.0] * (delay - 1), rate] if delay else [1.0, rate - 1.0])))


@pytest.mark.parametrize("delay", range(9))
def test_the_limit_of_a_delay_is_where_a_root_leaves_the_unit_circle(delay):
    limit = largest_stable_rate(delay)
    assert largest_root(0.999 * limit, delay) < 1 < largest_root(1.001 * limit, delay)


@pytest.mark.parametrize("delay", range(5))
def test_paths_shrink_below_the_limit_and_grow_above_it(delay):
    limit = largest_stable_rate(delay, curvature=2.5)
    below, above = (delayed_sgd(2.5, factor * limit, delay, 3000) for factor in (0.98, 1.02))
    assert max(map(abs, below[-50:])) < 1e-3
    assert max(map(abs, above[-50:])) > 1e3


def test_page_values_of_limits():
    assert [largest_stable_rate(delay) for delay in range(4)] == pytest.approx([2, 1, 0.618034, 0.445042], rel=1e-6)
    assert largest_stable_rate(0) / largest_stable_rate(7) == pytest.approx(9.57, rel=1e-3)


# The program to fix.


@given(st.lists(st.lists(st.floats(0, 20), max_size=30), min_size=1, max_size=6))
def test_the_mean_of_parts_is_that_of_all_tokens(parts):
    tokens = [loss for part in parts for loss in part]
    means = [sum(part) / len(part) if part else 0.0 for part in parts]
    assume(tokens)
    assert debug_loss(means, list(map(len, parts))) == pytest.approx(sum(tokens) / len(tokens))


def test_page_values_of_the_mean():
    assert debug_loss([2, 4], [100, 300]) == 3.5
    assert debug_loss([0, 1, 2, 3], [100, 100, 100, 50]) == pytest.approx(1.28571, rel=1e-5)

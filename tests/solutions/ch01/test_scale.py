"""Training plans against counted FLOPs, papers' figures, a numerical optimum and plain counting."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from experiments.ch01.measured_states import counted_flops
from rankzero.facts.scaling_laws import BESIROGLU
from rankzero.facts.units import GB, TFLOP, billion, day, hour, trillion
from rankzero.tiny import GPT, GPTConfig
from solutions.ch01.scale import compute_optimal, minimum_ranks, training_flops_per_token, training_time

# training_flops_per_token


@pytest.mark.parametrize(
    "config", [GPTConfig(), GPTConfig(layers=2, heads=3, kv_heads=1, head_dim=8, context=48, vocab=300)]
)
def test_the_library_counts_the_same(config):
    """Exactly: matrices and attention, forward and backward, on a real model with plain (not causal) attention."""
    torch.manual_seed(0)
    parameters, width = GPT(config).matmul_parameters, config.heads * config.head_dim
    expected = training_flops_per_token(parameters, config.layers, width, config.context)
    counted = counted_flops(config, batch=2)
    assert counted.step == expected * counted.tokens
    assert counted.forward * 3 == counted.step


def test_llama_3_8b():
    assert training_flops_per_token(7_504_658_432, 32, 4096, 8192) == 57_912_852_480
    assert training_flops_per_token(175e9) == 1.05e12


def test_palm_s_utilization():
    """46.2 % with attention and 45.7 % without, at 238.3 thousand tokens/s on 6,144 TPU v4: appendix B of the paper."""
    layers, width = 118, 48 * 256
    per_second, machine = 238.3e3, 6144 * 275 * TFLOP
    with_attention = training_flops_per_token(540.35 * billion, layers, width, 2048)
    assert per_second * with_attention / machine == pytest.approx(0.462, abs=5e-4)
    assert per_second * training_flops_per_token(540.35 * billion) / machine == pytest.approx(0.457, abs=5e-4)


@given(st.integers(0, 10**12), st.integers(0, 200), st.integers(0, 20_000), st.integers(0, 200_000))
def test_causal_is_half_of_the_attention(parameters, layers, width, context):
    plain = training_flops_per_token(parameters)
    whole = training_flops_per_token(parameters, layers, width, context)
    causal = training_flops_per_token(parameters, layers, width, context, causal=True)
    assert 2 * (causal - plain) == pytest.approx(whole - plain, rel=1e-6, abs=1e-3 * (1 + plain * 1e-9))


# training_time


@pytest.mark.parametrize(
    ("parameters", "tokens", "gpus", "speed", "days", "within"),
    [
        (175, 300, 1024, 140, 34, 0.01),  # section 5.1
        (1000, 450, 3072, 163, 84, 0.01),
        (174.6, 300, 384, 153, 84, 0.03),  # table 2, which llm-analysis pins too
        (174.6, 300, 1536, 141, 23, 0.03),
        (529.6, 300, 560, 171, 156, 0.03),
    ],
)
def test_days_that_narayanan_and_others_print(parameters, tokens, gpus, speed, days, within):
    """Narayanan et al. (2021), with 8 FLOP per parameter and token: activations are computed twice."""
    seconds = training_time(8 * parameters * billion * tokens * billion, gpus, speed * TFLOP, 1.0)
    assert seconds / day == pytest.approx(days, rel=within)


def test_days_in_full():
    assert training_time(8 * 175e9 * 300e9, 1024, 140 * TFLOP, 1.0) / day == pytest.approx(33.9084, abs=5e-5)
    assert training_time(8 * 1e12 * 450e9, 3072, 163 * TFLOP, 1.0) / day == pytest.approx(83.2108, abs=5e-5)
    assert training_time(6 * 405e9 * 15.6e12, 16_384, 989.4 * TFLOP, 0.40) / day == pytest.approx(67.6652, abs=5e-5)


@given(st.integers(1, 32_768), st.floats(0.05, 1))
def test_device_hours_do_not_depend_on_the_devices(ranks, utilization):
    """More devices make a run sooner, not cheaper."""
    alone = training_time(1e24, 1, 312 * TFLOP, utilization)
    assert ranks * training_time(1e24, ranks, 312 * TFLOP, utilization) == pytest.approx(alone, rel=1e-12)


def test_hours_of_llama_2():
    """1,720,320 A100-hours for 70 billion parameters and 2 trillion tokens are an MFU of 43.5 %."""
    full_speed = training_time(6 * 70 * billion * 2 * trillion, 1, 312 * TFLOP, 1.0) / hour
    assert full_speed / 1_720_320 == pytest.approx(0.434723, abs=5e-7)


# compute_optimal


@given(st.floats(1e18, 1e27), st.floats(1, 2000))
def test_the_budget_is_spent_in_the_ratio(flops, ratio):
    parameters, tokens = compute_optimal(flops, ratio)
    assert 6 * parameters * tokens == pytest.approx(flops, rel=1e-9)
    assert tokens / parameters == pytest.approx(ratio, rel=1e-9)


def test_chinchilla():
    """70 billion parameters and 1.4 trillion tokens."""
    assert compute_optimal(5.88e23) == pytest.approx((70 * billion, 1.4 * trillion))
    assert compute_optimal(5.76e23) == pytest.approx((6.92820e10, 1.38564e12), rel=1e-5)
    assert compute_optimal(1e21) == pytest.approx((2.88675e9, 5.77350e10), rel=1e-5)
    parameters, tokens = compute_optimal(3.8e25, 40)
    assert tokens / parameters == pytest.approx(40, rel=1e-15)


def test_a_numerical_optimum_is_near():
    """The loss of Besiroglu et al. (2024), minimized along the iso-FLOP curve: within a tenth of 20 per parameter."""
    flops, fit = 5.76e23, BESIROGLU

    def loss(log_parameters: float) -> float:
        parameters = math.exp(log_parameters)
        return fit.a / parameters**fit.alpha + fit.b / (flops / 6 / parameters) ** fit.beta

    best = minimize_scalar(loss, bounds=(math.log(1e9), math.log(1e12)), method="bounded", options={"xatol": 1e-10})
    parameters = math.exp(best.x)
    assert (parameters, flops / 6 / parameters) == pytest.approx((7.22487e10, 1.32874e12), rel=1e-4)
    assert compute_optimal(flops) == pytest.approx((parameters, flops / 6 / parameters), rel=0.1)


# minimum_ranks


@given(st.integers(0, 10**12), st.integers(16, 192), st.integers(2, 20), st.integers(0, 15))
def test_the_fewest_devices_by_counting(parameters, memory, size, reserve):
    """In whole bytes: so many devices hold the states, and one fewer does not."""
    ranks = minimum_ranks(parameters, memory * GB, size, reserve * GB)
    free, states = (memory - reserve) * 10**9, parameters * size
    assert ranks >= 1
    assert ranks * free >= states
    assert ranks == 1 or (ranks - 1) * free < states


@given(st.integers(1, 200), st.sampled_from([16, 24, 40, 80, 141, 192]))
def test_states_that_fill_their_devices(ranks, memory):
    """Kills a ceiling by adding one."""
    assert minimum_ranks(ranks * memory * GB / 16, memory * GB) == ranks
    assert minimum_ranks(ranks * memory * GB / 16 + 1, memory * GB) == ranks + 1


def test_published_models():
    """175 billion parameters take 2.8 TB: section 3.1 of the ZeRO paper counts 16 bytes each."""
    assert [minimum_ranks(n, 80 * GB) for n in (175e9, 70e9, 7e9, 405_853_388_800)] == [35, 14, 2, 82]
    assert minimum_ranks(70_553_706_496, 80 * GB, reserve=20 * GB) == 19
    assert minimum_ranks(70e9, 80 * GB, 12) == 11
    assert minimum_ranks(1.5 * billion, 24 * GB) == 1  # GPT-2's 24 GB, the paper's own example
    assert minimum_ranks(0, 16 * GB) == 1

"""Serving in closed form: against counted operations, a loop over sequences, Little's law measured, and a step loop."""

from __future__ import annotations

import math
import statistics
from random import Random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from rankzero.facts.hardware import A100_SXM, H100_SXM
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B
from rankzero.facts.units import TB, TFLOP
from rankzero.sim import batching
from rankzero.tiny import GPT, GPTConfig
from solutions.ch08.serving import (
    continuous_batching,
    critical_batch_size,
    pass_time,
    prefill_time,
    replicas_needed,
    request_metrics,
    static_batching,
    workload,
)

H100 = {"peak": 989.4 * TFLOP, "bandwidth": 3.35 * TB}
N, W, KV = LLAMA3_8B.parameters, 2 * LLAMA3_8B.parameters, 131_072
SHAPE = {"layers": 32, "hidden": 4096}


def test_the_machines_are_those_of_the_tables():
    assert (H100_SXM.peak_bf16, H100_SXM.memory_bandwidth) == pytest.approx((H100["peak"], H100["bandwidth"]), rel=1e-3)
    assert (A100_SXM.peak_bf16, A100_SXM.memory_bandwidth) == pytest.approx((312e12, 2.039e12), rel=1e-3)


# Prefill.


@pytest.mark.parametrize(("prompt", "seconds"), [(2048, 0.0343556), (16, 0.00479426), (131_072, 6.67949)])
def test_prefill_of_llama_3_8b(prompt, seconds):
    """Kills: the full square, a token for the prompt, no roofline."""
    assert prefill_time(N, W, prompt, **H100, **SHAPE) == pytest.approx(seconds, rel=1e-5)


def test_prefill_without_attention_and_on_eight_gpus():
    assert prefill_time(8.03e9, 16.06e9, 1024, **H100) == pytest.approx(0.0166216, rel=1e-5)
    big = LLAMA3_70B.parameters
    eight = {name: 8 * value for name, value in H100.items()}
    assert prefill_time(big, 2 * big, 4096, **eight, layers=80, hidden=8192) == pytest.approx(0.0757992, rel=1e-5)


@pytest.mark.parametrize("prompt", [8, 64, 96])
def test_the_operations_are_those_that_torch_counts(prompt):
    """The tiny model forms every score: twice what causal attention needs."""
    model = GPT(GPTConfig(vocab=64, layers=2, heads=4, head_dim=16, context=128))
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        model(torch.zeros(1, prompt, dtype=torch.int64))
    shape = {"layers": 2, "hidden": 64}
    matrices = prefill_time(model.matmul_parameters, 1, prompt, 1, 1e30)
    assert pass_time(prompt, [], model.matmul_parameters, 1, 0, 1, 1e30) == matrices
    attention = prefill_time(model.matmul_parameters, 1, prompt, 1, 1e30, **shape) - matrices
    assert counted.get_total_flops() == matrices + 2 * attention


# A pass.


@pytest.mark.parametrize(
    ("tokens", "contexts", "seconds"),
    [
        (1, [2048], 0.00487432),
        (1, [0], 0.00479419),
        (32, [2048] * 32, 0.00735835),
        (256, [2048] * 256, 0.0253075),
        (3, [100, 5000, 32_000], 0.00624576),
        (512, [128] * 512, 0.0108752),
        (1024, [400] * 1024, 0.0326482),
        (544, [2048] * 32, 0.0113947),
        (2048, [0], 0.0332444),
        (0, [], 0),
    ],
)
def test_passes_of_llama_3_8b(tokens, contexts, seconds):
    """Worked out by hand: 16.06 GB and 131,072 bytes a token at 3.35 TB/s, 16.06 GFLOP a token at 989.4 TFLOP/s."""
    assert pass_time(tokens, contexts, N, W, KV, **H100) == pytest.approx(seconds, rel=1e-5)


@given(
    st.lists(st.tuples(st.integers(1, 4000), st.integers(0, 131_072)), max_size=60),
    st.integers(0, 5_000_000),
    st.floats(1e8, 7e11),
)
def test_a_pass_is_a_loop_over_requests(requests, kv, parameters):
    """Kills: no cache, one cache for all, a padded cache, one maximum over everything."""
    operations, cached, weights = 0.0, 0.0, 2 * parameters if requests else 0.0
    for new, context in requests:
        operations += 2 * parameters * new
        cached += kv * context
    expected = max(operations / H100["peak"], weights / H100["bandwidth"]) + cached / H100["bandwidth"]
    tokens, contexts = sum(new for new, _ in requests), [context for _, context in requests]
    assert pass_time(tokens, contexts, parameters, 2 * parameters, kv, **H100) == pytest.approx(expected, rel=1e-9)


@given(st.integers(1, 2000), st.integers(1, 4000), st.integers(0, 8000))
def test_one_more_token_never_makes_a_pass_shorter(tokens, more, context):
    before, after = (pass_time(n, [context], N, W, KV, **H100) for n in (tokens, tokens + more))
    assert 0 <= after - before <= more * 2 * N / H100["peak"] * (1 + 1e-9)


def test_the_published_ridges():
    """989.4 TFLOP/s over 3.35 TB/s, and 312 over 2.039."""
    assert critical_batch_size(N, W, **H100) == pytest.approx(989.4 / 3.35)
    assert critical_batch_size(N, W, 312e12, 2.039e12) == pytest.approx(153.016, rel=1e-5)
    assert critical_batch_size(N, N, **H100) == pytest.approx(989.4 / 3.35 / 2)  # weights of one byte


@given(st.floats(1e8, 7e11), st.floats(0.5, 4), st.integers(0, 10_000))
def test_the_matrices_take_longer_from_the_critical_batch_on_with_any_context(parameters, element, context):
    """Below it a token costs its cache, above it multiplying as well. Kills a ridge that contexts move."""
    weights = element * parameters
    batch = critical_batch_size(parameters, weights, **H100)
    own = KV * context / H100["bandwidth"]
    for share, multiply in ((0.5, 0.0), (2.0, 2 * parameters / H100["peak"])):
        size = max(1, math.floor(batch * share))
        both = [
            pass_time(n, [context] * n, parameters, weights, KV, **H100)
            for n in ((size - 1, size) if share < 1 and size > 1 else (size + 1, size + 2))
        ]
        if share > 1 or size > 1:
            assert both[1] - both[0] == pytest.approx(own + multiply, rel=1e-4, abs=1e-9)


# What a user feels.


def test_a_stall_between_two_tokens():
    found = request_metrics(10.0, [10.25, 10.30, 10.36, 10.41, 10.75])
    assert (found.ttft, found.tpot, found.e2e) == pytest.approx((0.25, 0.125, 0.75))
    assert found.itls == pytest.approx((0.05, 0.06, 0.05, 0.34))
    alone = request_metrics(0, [0.4])
    assert (alone.ttft, alone.tpot, alone.e2e, alone.itls) == (0.4, None, 0.4, ())


@given(st.floats(0, 1e3), st.lists(st.floats(0, 10), min_size=1, max_size=50))
def test_the_parts_make_the_whole(arrival, gaps):
    """The definitions of vLLM's benchmark, restated: TPOT is (latency - TTFT) / (tokens - 1)."""
    times = [arrival + sum(gaps[: n + 1]) for n in range(len(gaps))]
    found = request_metrics(arrival, times)
    assert found.ttft + sum(found.itls) == pytest.approx(found.e2e, abs=1e-9)
    if len(times) > 1:
        assert found.tpot == pytest.approx((found.e2e - found.ttft) / (len(times) - 1), abs=1e-9)


@pytest.mark.parametrize(
    ("times", "rule"), [([], "hold at least one time"), ([0.9, 1.1], "ascend from arrival"), ([2, 1.5], "ascend from")]
)
def test_a_request_has_tokens_after_it_came(times, rule):
    with pytest.raises(ValueError, match=f"^token_times must {rule}"):
        request_metrics(1.0, times)


# Little's law.


@pytest.mark.parametrize(
    ("given", "replicas"),
    [
        ((500, 0.01417, 0.0209, 50, 64), 9),
        ((20, 0.5, 0.03, 300, 64), 3),
        ((10, 1, 0.05, 1, 8), 2),
        ((0, 0.5, 0.03, 300, 64), 0),
        ((8, 0.1, 0.1, 10, 8), 1),
    ],
)
def test_replicas(given, replicas):
    """Kills: one request per replica, as many decode steps as tokens, a floor, a ceiling of float noise."""
    assert replicas_needed(*given) == replicas


def test_little_s_law_holds_in_the_simulator():
    """10,000 requests below 90 % of the load: the time-average inside against rate times mean time."""
    rng, lengths = Random(8), workload(10_000)
    for load in (0.3, 0.6, 0.85):
        rate = load * 8 / statistics.fmean(lengths)
        run = batching.continuous(lengths, 8, batching.poisson_arrivals(rate, len(lengths), rng))
        for part in ("queue", "slots", "both"):
            law = batching.little(run, part)
            assert law.rate * law.time == pytest.approx(law.inside, rel=0.02)
        in_slots = batching.little(run, "slots")
        needed = replicas_needed(in_slots.rate, 1.0, 1.0, round(in_slots.time), 1)
        assert needed == pytest.approx(in_slots.inside, abs=1 + 0.02 * in_slots.inside)


# Batching.


def test_the_two_policies():
    assert static_batching([3, 1, 2, 5, 4], 2) == [(0, 3), (0, 3), (3, 8), (3, 8), (8, 12)]
    assert continuous_batching([3, 1, 2, 5, 4], 2) == [(0, 3), (0, 1), (1, 3), (3, 8), (3, 7)]
    assert continuous_batching([4, 2, 3], 2, [5, 0, 0]) == [(5, 9), (0, 2), (0, 3)]
    assert continuous_batching([4, 2, 3], 2, [0, 0, 10]) == [(0, 4), (0, 2), (10, 13)]
    assert static_batching([], 3) == continuous_batching([], 3) == []


@pytest.mark.parametrize("arrivals", [[], [0], [0, 0, 0]])
def test_each_request_arrives(arrivals):
    with pytest.raises(ValueError, match=f"^arrivals must be as many as lengths = 2, got {len(arrivals)}$"):
        continuous_batching([1, 2], 2, arrivals)


def test_graham_s_tight_case():
    """List scheduling reaches 2 - 1/m times the best: 5 against 3 on 3 machines."""
    assert max(finish for _, finish in continuous_batching([1] * 6 + [3], 3)) == 5


LENGTHS = st.lists(st.integers(1, 40), max_size=30)


@given(LENGTHS, st.integers(1, 8), st.data())
def test_the_policies_are_those_of_the_step_loop_and_of_the_simulator(lengths, slots, data):
    """Kills: a slot that idles for a step, a static slot released early, arrivals ignored, the shortest first."""
    arrivals = data.draw(st.lists(st.integers(0, 60), min_size=len(lengths), max_size=len(lengths)))
    assert static_batching(lengths, slots) == batching.step_by_step(lengths, slots, policy="static")
    assert continuous_batching(lengths, slots) == batching.step_by_step(lengths, slots)
    assert continuous_batching(lengths, slots, arrivals) == batching.step_by_step(lengths, slots, arrivals)
    assert tuple(continuous_batching(lengths, slots, arrivals)) == batching.continuous(lengths, slots, arrivals).spans


@given(LENGTHS.filter(bool), st.integers(1, 8))
def test_bounds_of_list_scheduling(lengths, slots):
    made = max(finish for _, finish in continuous_batching(lengths, slots))
    assert max(math.ceil(sum(lengths) / slots), max(lengths)) <= made <= sum(lengths) / slots + max(lengths)
    assert made <= max(finish for _, finish in static_batching(lengths, slots))


def test_the_workload_of_fifty_requests():
    lengths = workload()
    assert (len(lengths), sum(lengths)) == (50, 3266)
    assert max(finish for _, finish in continuous_batching(lengths, 8)) == 542
    assert max(finish for _, finish in static_batching(lengths, 8)) == 977
    assert workload(5, sigma=0) == [60] * 5

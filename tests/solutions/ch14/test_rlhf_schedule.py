"""Placements, memory by phase and the simulated asynchronous run, against enumeration, sets and a clock that ticks."""

from __future__ import annotations

import itertools
import math
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB
from solutions.ch14.rlhf_profile import (
    DISCARDABLE,
    OFFLOADS,
    Iteration,
    asynchronous_time,
    cycle,
    flops_per_response_token,
    phase_flops,
    phase_seconds,
    synchronous_time,
    tenants,
)
from solutions.ch14.rlhf_schedule import Placement, best_placement, debug_scaled_gen, memory_timeline, simulate_async

LLAMA = {
    "train_bytes": 36 * LLAMA3_70B.parameters,
    "rollout_bytes": 2 * LLAMA3_70B.parameters,
    "rollout_tp": 8,
    "gpu_memory": 80 * GB,
}

# --- best_placement


@pytest.mark.parametrize(
    ("tail", "kind", "rollout", "seconds"),
    [(0, "colocated", 100, 95.0), (60, "colocated", 100, 95.0), (100, "disaggregated", 60, 100.0)],
)
def test_placements_of_the_page(tail, kind, rollout, seconds):
    found = best_placement(100, 6000, 3500, tail)
    assert found == Placement(kind, rollout, 100 if kind == "colocated" else 100 - rollout, seconds)


@pytest.mark.parametrize(
    ("gpus", "tail", "reserve", "wanted"),
    [
        (64, 0, 20, Placement("colocated", 64, 64, 120.0)),
        (64, 90, 0, Placement("disaggregated", 32, 32, 120.0)),
        (64, 90, 20, Placement("colocated", 64, 64, 150.0)),  # states of 79.4 GB leave no reserve on 32 GPUs
        (40, 0, 0, Placement("disaggregated", 8, 32, 480.0)),
        (40, 0, 20, None),
        (32, 0, 0, None),
        (128, 90, 20, Placement("disaggregated", 48, 80, 90.0)),
    ],
)
def test_seventy_billion(gpus, tail, reserve, wanted):
    assert best_placement(gpus, 3840, 3840, tail, **LLAMA, reserve=reserve * GB) == wanted


def enumerated(gpus, generate, train, tail, train_bytes, rollout_bytes, tp, memory, reserve):
    """Every pair of pools, and the kind as a third coordinate; no early exit, and fits judged after the time."""
    rows = []
    for rollout in range(gpus + 1):
        for colocated in (True, False):
            trainers = gpus if colocated else gpus - rollout
            if rollout == 0 or trainers == 0 or rollout % tp or (colocated and rollout != gpus):
                continue
            pools = [train_bytes / trainers + reserve, rollout_bytes / tp + reserve]
            loads = [sum(pools) - reserve] if colocated else pools
            phases = max(generate / rollout, tail), train / trainers
            rows.append((sum(phases) if colocated else max(phases), not colocated, rollout, max(loads) <= memory))
    fitting = [row[:3] for row in rows if row[3]]
    return min(fitting, default=None)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**30))
def test_placement_against_enumeration(seed):
    rng = Random(seed)
    gpus, tp = rng.randint(1, 48), rng.choice((1, 1, 2, 4, 8))
    work = rng.uniform(1, 1e4), rng.uniform(1, 1e4), rng.choice((0.0, rng.uniform(0, 500)))
    memory = rng.choice((math.inf, 80 * GB))
    sizes = rng.uniform(0, 2000 * GB), rng.uniform(0, 200 * GB), tp, memory, rng.uniform(0, 30 * GB)
    found, wanted = best_placement(gpus, *work, *sizes), enumerated(gpus, *work, *sizes)
    assert (found is None) == (wanted is None)
    if found is not None:
        assert found.iteration_time == pytest.approx(wanted[0])
        assert (found.kind == "disaggregated", found.rollout_gpus) == wanted[1:]


#: Seconds, or none: below the smallest normal number a quotient has hardly a digit left.
WORK = st.floats(0, 1e4).filter(lambda seconds: seconds == 0 or seconds > 1e-300)


@given(st.integers(2, 200), WORK, WORK, st.floats(0, 100))
def test_two_pools_never_win_without_a_tail(gpus, generate, train, tail):
    """Story 7's rule, and the helpers against the search."""
    best, together = asynchronous_time(gpus, generate, train), synchronous_time(gpus, generate, train)
    assert best >= together * (1 - 1e-12)
    found = best_placement(gpus, generate, train, tail)
    times = synchronous_time(gpus, generate, train, tail), asynchronous_time(gpus, generate, train, tail)
    assert found is not None
    assert found.iteration_time == pytest.approx(min(times))


# --- memory_timeline


def test_memory_of_the_page():
    sizes = tenants(LLAMA3_70B.parameters, 64)
    uses = memory_timeline(cycle(sizes), sizes, DISCARDABLE)
    shown = [(one.name, *(round(x / GB, 4) for x in (one.resident, one.loaded, one.evicted))) for one in uses]
    assert shown == [
        ("generate", 66.4576, 4.4096, 26.4576),
        ("score", 8.8192, 0.0, 0.0),
        ("train", 47.2769, 26.4576, 4.4096),
    ]
    assert sum(sizes.values()) / GB == pytest.approx(109.325, rel=1e-5)


names = st.sampled_from("abcdefg")


@given(
    st.dictionaries(names, st.integers(0, 1000), min_size=7, max_size=7),
    st.lists(st.frozensets(names), max_size=5),
    st.frozensets(names),
)
def test_memory_against_movements(sizes, held, discardable):
    """Each tenant's own history, around the cycle: it is copied in once for each time that it comes."""
    uses = memory_timeline([(f"p{i}", tenants) for i, tenants in enumerate(held)], sizes, discardable)
    assert [one.name for one in uses] == [f"p{i}" for i in range(len(held))]
    loaded, evicted = [0] * len(held), [0] * len(held)
    for tenant, size in sizes.items():
        for place in range(len(held)):
            here, before = tenant in held[place], tenant in held[place - 1]
            loaded[place] += size * (here > before) * (tenant not in discardable)
            evicted[place] += size * (before > here) * (tenant not in discardable)
    assert [one.loaded for one in uses] == loaded
    assert [one.evicted for one in uses] == evicted
    assert [one.resident for one in uses] == [sum(sizes[t] for t in tenants) for tenants in held]
    assert sum(loaded) == sum(evicted)


def test_memory_without_a_phase_and_with_an_unknown_discardable():
    assert memory_timeline([], {}) == []
    assert memory_timeline([("p", {"a"})], {"a": 1}, {"other"})[0].loaded == 0


@pytest.mark.parametrize("algorithm", ["ppo", "grpo"])
def test_each_offload_takes_more_away(algorithm):
    sizes = tenants(1e9, 8, 2, algorithm=algorithm)
    held = [cycle(sizes, way) for way in OFFLOADS]
    for more, less in itertools.pairwise(held):
        assert all(after <= before for (_, before), (_, after) in zip(more, less, strict=True))
    assert all(tenants == set(sizes) for _, tenants in held[0])
    assert any("critic" in name for name in sizes) == (algorithm == "ppo")
    with pytest.raises(ValueError, match="offload"):
        cycle(sizes, "everything")


# --- simulate_async


@pytest.mark.parametrize(
    ("args", "total", "staleness"),
    [
        (([1] * 8, 2, 2, 1, 1, 0, 0), 8, [(0, 0)] * 4),
        (([1] * 8, 2, 2, 1, 1, 0, 1), 5, [(0, 0), (1, 1), (1, 1), (1, 1)]),
        (([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 0), 13, [(0,) * 4] * 2),
        (([4, 1, 1, 1, 4, 1, 1, 1], 4, 4, 1, 2, 0.5, 1), 7.5, [(0,) * 4, (1,) * 4]),
        (([9] + [1] * 11, 2, 2, 1, 1, 0, 1), 11, [(0, 0), (1, 0), (1, 0), (1, 0), (4, 1), (1, 1)]),
        (([3, 3], 2, 4, 1, 1, 0, 0), 0, []),
        (([], 2, 4, 1, 1, 0, 0), 0, []),
    ],
)
def test_runs_of_the_page(args, total, staleness):
    run = simulate_async(*args)
    assert (run.total, [step[2] for step in run.steps]) == (total, staleness)


def test_the_tail_of_the_page():
    rng = Random(0)
    lengths = [min(4096, max(1, int(rng.lognormvariate(6, 1)))) for _ in range(512)]
    runs = {bound: simulate_async(lengths, 64, 64, 0.02, 20, 1, bound) for bound in (0, 1, 2, 4, 8)}
    assert [round(run.total) for run in runs.values()] == [709, 242, 203, 181, 181]
    means = [sum(sum(step[2]) for step in run.steps) / 512 for run in runs.values()]
    assert means == pytest.approx([0, 0.875, 1.625, 2.46875, 2.46875])
    assert runs[0].busy / 64 / runs[0].total == pytest.approx(0.147, rel=0.01)


def ticked(lengths, slots, batch, train, sync, bound):
    """The same with a clock of whole ticks: who is where is looked up at every tick."""
    starts, versions, ends, queue, trained = {}, {}, {}, [], set()
    version, step_end, steps = 0, None, []
    for tick in range(10_000):
        queue += sorted((one for one, end in ends.items() if end == tick), key=lambda one: one)
        if step_end == tick:
            version, step_end = version + 1, None
        if step_end is None and len(queue) >= batch:
            taken, queue = queue[:batch], queue[batch:]
            step_end = tick + train + sync
            steps.append((tick, step_end, tuple(version - versions[one] for one in taken)))
            trained |= set(taken)
        while len(starts) < len(lengths):
            if sum(end > tick for end in ends.values()) >= slots:
                break
            if len(starts) >= (bound + version + 1) * batch:
                break
            one = len(starts)
            starts[one], versions[one], ends[one] = tick, version, tick + lengths[one]
        if step_end is None and len(starts) == len(lengths) and all(end <= tick for end in ends.values()):
            break
    total = steps[-1][1] if steps else 0
    busy = sum(starts[one] <= tick < ends[one] for tick in range(total) for one in starts)
    return total, tuple(steps), busy


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.integers(1, 12), max_size=30),
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_run_against_a_clock(lengths, slots, batch, train, sync, bound):
    run = simulate_async(lengths, slots, batch, 1, train, sync, bound)
    assert (run.total, run.steps, run.busy) == ticked(lengths, slots, batch, train, sync, bound)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 500), min_size=1, max_size=60), st.integers(1, 8), st.integers(0, 40))
def test_bound_zero_is_the_synchronous_formula(lengths, batch, train):
    """With a slot for each response of a batch: the longest of each batch, then the step."""
    assume(len(lengths) >= batch)
    run = simulate_async(lengths, batch, batch, 0.25, train, 0.5, 0)
    groups = [lengths[i : i + batch] for i in range(0, len(lengths) - batch + 1, batch)]
    assert run.total == sum(max(group) * 0.25 + train + 0.5 for group in groups)
    assert all(set(step[2]) == {0} for step in run.steps)


def test_a_step_without_duration_raises_the_version_first():
    """Kills a program that starts responses before such a step has ended."""
    run = simulate_async([1, 1, 1, 1], 2, 2, 1, 0, 0, 0)
    assert run.steps == ((1.0, 1.0, (0, 0)), (2.0, 2.0, (0, 0)))
    late = simulate_async([1, 2, 1], 2, 1, 1, 0, 0, 1)
    assert [step[2] for step in late.steps] == [(0,), (1,), (1,)]


# --- debug_scaled_gen


@given(st.lists(st.integers(1, 4096), max_size=40), st.integers(1, 64), st.integers(1, 256))
def test_generation_scales_and_the_longest_does_not(lengths, slots, gpus):
    seconds = debug_scaled_gen(lengths, slots, 0.5, gpus)
    assert seconds >= max(lengths, default=0) * 0.5
    assert seconds >= sum(lengths) * 0.5 / slots / gpus * (1 - 1e-12)
    assert seconds <= debug_scaled_gen(lengths, slots, 0.5, 1)


# --- rooflines


def test_phases_of_the_page():
    short = phase_seconds(LLAMA3_70B, 256, Iteration(512, 100, 50, 4))
    long = phase_seconds(LLAMA3_70B, 256, Iteration(512, 100, 8192, 1, critic=False))
    assert short["generate"] == pytest.approx(0.26, rel=0.02)
    assert short["train"] == pytest.approx(2.5, rel=0.03)
    assert long["generate"] == pytest.approx(49.5, rel=0.01)
    assert long["train"] == pytest.approx(17.6, rel=0.01)
    with pytest.raises(ValueError, match="rollout_tp"):
        phase_seconds(LLAMA3_70B, 12, Iteration())


def test_flops_of_a_response_token():
    assert flops_per_response_token(Iteration(epochs=4)) == 4 * 2 + 4 * 12
    assert flops_per_response_token(Iteration(epochs=1, critic=False)) == 2 + 2 + 6
    assert phase_flops(1.0, Iteration(2, 3, 4))["prefill"] == 2 * 2 * 3
